"""Opening an input that may be hostile: regular files, the user's own pipes, standard input, within limits."""

import gzip
import io
import os
import re
import stat
import sys
import zlib
from pathlib import Path

from vmodel.ingest.given import MOST_BYTES
from vmodel.ingest.result import refusal

STANDARD_INPUT = "-"
OWN_DESCRIPTOR = re.compile(r"/dev/(?:stdin|fd/([0-9]{1,5}))")  # what `<(command)` and `/dev/stdin` name
GZIP = b"\x1f\x8b"


def contents(file: str) -> bytes:
    """The bytes of a file, unpacked if gzip; raises DatasetError for what is no regular, readable, bounded file."""
    own = OWN_DESCRIPTOR.fullmatch(file)
    if file == STANDARD_INPUT or (own is not None and own[1] is None):
        data = sys.stdin.buffer.read(MOST_BYTES + 1)
    elif own is not None:
        data = _descriptor(int(own[1]))
    else:
        data = _regular(file)
    return _unpacked(_bounded(data))


def _bounded(data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise refusal(f"more than {MOST_BYTES} bytes, expected the output of one run")
    return data


def _descriptor(number: int) -> bytes:
    try:
        with os.fdopen(os.dup(number), "rb") as stream:
            return stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise refusal(f"expected a readable file ({error.strerror})") from None


def _regular(file: str) -> bytes:
    try:
        status = Path(file).lstat()
    except OSError as error:
        raise refusal(f"expected a readable file ({error.strerror})") from None
    except ValueError:
        raise refusal("expected the name of a file") from None
    if stat.S_ISLNK(status.st_mode):
        raise refusal("a symbolic link, expected a regular file: name the file it points to")
    if not stat.S_ISREG(status.st_mode):
        raise refusal("expected a regular file, not a folder, device, socket or pipe (`-` reads standard input)")
    if status.st_size > MOST_BYTES:
        raise refusal(f"{status.st_size} bytes, expected the output of one run, at most {MOST_BYTES} bytes")
    try:
        # Without following links or waiting for a writer: the name may have changed hands since the look above.
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise refusal("expected a regular file")
            return stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise refusal(f"expected a readable file ({error.strerror})") from None


def _unpacked(data: bytes) -> bytes:
    if not data.startswith(GZIP):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return _bounded(stream.read(MOST_BYTES + 1))
    except EOFError:
        raise refusal("the gzip file was cut off") from None
    except (OSError, zlib.error) as error:
        raise refusal(f"expected a gzip file in order ({error})") from None
