"""What many tests share: the reproducible hypothesis profile, every path, every profile, a place for profile files."""

import pytest
from hypothesis import settings

from vmodel.library.profile import shipped
from vmodel.library.tables import path_names

settings.register_profile("vmodel", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("vmodel")


@pytest.fixture(params=path_names())
def path(request):
    """Every path that a user may name."""
    return request.param


@pytest.fixture(params=shipped())
def profile_name(request):
    """Every profile in the package."""
    return request.param


@pytest.fixture
def profile_file(tmp_path):
    """A function that writes a profile file of some text or bytes and returns its name."""

    def write(body):
        file = tmp_path / "mine.toml"
        file.write_bytes(body if isinstance(body, bytes) else body.encode())
        return str(file)

    return write
