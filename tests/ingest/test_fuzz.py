"""Broken and cut real files through every reader: a record or a VmodelError, never another exception.

`benchmarks/fuzz_ingest.py` runs the same for as long as one likes.
"""

import importlib.util
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vmodel.ingest.read import TOOLS

HOME = Path(__file__).parent
SPEC = importlib.util.spec_from_file_location("fuzz_ingest", HOME.parents[1] / "benchmarks" / "fuzz_ingest.py")
fuzz = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzz)
FILES = [path.read_bytes() for path in sorted((HOME / "files").iterdir()) if path.stat().st_size]
tools = st.sampled_from([None, *TOOLS, "netperf:TCP_RR", "netperf:UDP_STREAM"])


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(FILES), st.integers(0, 2**32), tools)
def test_broken_files_give_a_record_or_a_refusal(data, seed, tool):
    fuzz.once(fuzz.broken(data, FILES, random.Random(seed)), tool)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(FILES), st.floats(0, 1), tools)
def test_cut_files_give_a_record_or_a_refusal(data, share, tool):
    fuzz.once(data[: int(share * len(data))], tool)


@settings(max_examples=200)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")), tools)
def test_any_bytes_give_a_record_or_a_refusal(data, tool):
    fuzz.once(data, tool)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(FILES)))
def test_every_cut_of_every_file(place):
    data = FILES[place]
    step = max(1, len(data) // 60)
    for end in range(0, len(data), step):
        fuzz.once(data[:end])


def test_a_number_with_a_decimal_point_too_many_is_no_number():
    """What a long run of the fuzzer found: patterns that took "1..2" for a number. Every point of every file, twice."""
    link = b"01:00.0 Ethernet controller: X\n\tLnkCap: Speed 8.0GT/s, Width x8\n\tLnkSta: Speed 8.0GT/s, Width x8\n"
    for data in (*FILES, link):
        for place in [i for i, byte in enumerate(data) if byte == ord(".") and data[i + 1 : i + 2].isdigit()][:60]:
            for more in (b".", b".1"):
                fuzz.once(data[:place] + more + data[place:], None)
