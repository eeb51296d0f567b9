"""Texts with units: what each spelling means, what is refused, and that formatting and parsing agree."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vmodel import units
from vmodel.errors import UnitError

ROUNDED = 5.1e-3  # the largest relative error of three significant digits
reproducible = settings(derandomize=True, deadline=None)
SI = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}  # SI brochure, table 7
IEC = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}  # IEC 80000-13
PARSERS = (
    units.parse_bytes,
    units.parse_bitrate,
    units.parse_packet_rate,
    units.parse_seconds,
    units.parse_microseconds,
    units.parse_load,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("64", 64),
        (64, 64),
        ("1K", 1024),
        ("64k", 65536),
        ("64K", 65536),
        ("64KiB", 65536),
        ("1.5MiB", 1572864),
        ("2M", 2097152),
        ("1G", 1073741824),
        ("512B", 512),
        ("512 bytes", 512),
        ("9kB", 9000),
        ("1MB", 1_000_000),
        ("2 GB", 2_000_000_000),
        (" 1e3 ", 1000),
        ("1.", 1),
        ("+.5K", 512),
    ],
)
def test_sizes_mean_bytes(text, size):
    assert units.parse_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("10Gbit/s", 10e9),
        ("934 Mbps", 934e6),
        ("3Gbit/s", 3e9),
        ("1e9bit/s", 1e9),
        ("100MB/s", 800e6),
        ("1MiB/s", 8 * 1048576),
        ("10000Mb/s", 10e9),
        ("1gbit", 1e9),
        ("2 Kibit/s", 2048),
        ("10\N{NO-BREAK SPACE}Gbit/s", 10e9),
    ],
)
def test_bit_rates_mean_bits_per_second(text, bps):
    assert units.parse_bitrate(text) == bps


@pytest.mark.parametrize(
    ("text", "pps"), [("200kpps", 200e3), ("2 Mpps", 2e6), ("1e6pps", 1e6), ("14.88Mpps", 14.88e6)]
)
def test_packet_rates_mean_packets_per_second(text, pps):
    assert units.parse_packet_rate(text) == pytest.approx(pps, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10us", 10e-6),
        ("1.5ms", 1.5e-3),
        ("3 s", 3),
        ("488 \N{MICRO SIGN}s", 488e-6),
        ("488 \N{GREEK SMALL LETTER MU}s", 488e-6),
        ("20ns", 20e-9),
        ("3 usecs", 3e-6),
        ("0us", 0),
    ],
)
def test_times_mean_seconds(text, seconds):
    assert units.parse_seconds(text) == seconds


@pytest.mark.parametrize(("text", "seconds"), [("10", 10e-6), (10, 10e-6), ("0", 0), ("1.5ms", 1.5e-3)])
def test_a_plain_number_is_microseconds_where_ethtool_says_so(text, seconds):
    assert units.parse_microseconds(text) == seconds


@pytest.mark.parametrize(
    ("text", "load"),
    [
        ("200kpps", ("rate_pps", 200e3)),
        ("3Gbit/s", ("throughput_bps", 3e9)),
        ("100MB/s", ("throughput_bps", 800e6)),
        ("max", ("max", math.inf)),
        (" MAX ", ("max", math.inf)),
    ],
)
def test_a_load_is_a_packet_rate_a_bit_rate_or_max(text, load):
    assert units.parse_load(text) == load


@pytest.mark.parametrize(("prefix", "factor"), [(p, f) for p, f in SI.items() if f >= 1], ids=repr)
def test_rate_prefixes_are_those_of_si(prefix, factor):
    for unit in ("bit/s", "b/s", "bps"):
        assert units.parse_bitrate(f"7{prefix}{unit}") == 7 * factor
    assert units.parse_bitrate(f"7{prefix}B/s") == 8 * 7 * factor
    assert units.parse_packet_rate(f"7{prefix}pps") == 7 * factor
    assert units.parse_bytes(f"7{prefix}B") == 7 * factor


@pytest.mark.parametrize(("prefix", "factor"), [(p, f) for p, f in SI.items() if f <= 1], ids=repr)
def test_time_prefixes_are_those_of_si(prefix, factor):
    assert units.parse_seconds(f"7{prefix}s") == pytest.approx(7 * factor, rel=1e-15)


@pytest.mark.parametrize(("prefix", "factor"), IEC.items(), ids=repr)
def test_binary_prefixes_are_those_of_iec(prefix, factor):
    assert units.parse_bytes(f"3{prefix}B") == 3 * factor
    assert units.parse_bytes(f"3{prefix[0]}") == 3 * factor
    assert units.parse_bitrate(f"3{prefix}B/s") == 3 * factor * 8


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize(
    "number",
    [
        "",
        " ",
        "-1",
        "-0",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "0x10",
        "1_0",
        "1,5",
        "1 2",
        "--1",
        "1e",
        "\N{ARABIC-INDIC DIGIT ONE}",
    ],
)
def test_what_is_not_a_sensible_number_is_refused(parse, number):
    for unit in ("", "B", "bit/s", "pps", "s", "us"):
        with pytest.raises(UnitError) as caught:
            parse(number + unit)
        assert "\n" not in str(caught.value)
        assert caught.value.text == number + unit


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (units.parse_bytes, "0"),
        (units.parse_bytes, "0.5"),
        (units.parse_bitrate, "0bit/s"),
        (units.parse_packet_rate, "0pps"),
        (units.parse_load, "0kpps"),
        (units.parse_bytes, True),
        (units.parse_bytes, math.nan),
    ],
)
def test_zero_is_refused_where_it_makes_no_sense(parse, text):
    with pytest.raises(UnitError):
        parse(text)


@pytest.mark.parametrize(
    ("parse", "text"),
    [(units.parse_bitrate, "10"), (units.parse_packet_rate, 10), (units.parse_seconds, "10"), (units.parse_load, "10")],
)
def test_a_unit_is_required_where_a_plain_number_would_be_ambiguous(parse, text):
    with pytest.raises(UnitError) as caught:
        parse(text)
    assert caught.value.nearest is None


@pytest.mark.parametrize(
    ("parse", "text", "meant"),
    [
        (units.parse_bitrate, "25 Gbps/s", "25 Gbit/s"),
        (units.parse_bitrate, "25G", "25 Gbit/s"),
        (units.parse_bitrate, "100mbps", "100 Mbit/s"),
        (units.parse_bitrate, "100 mb/s", "100 Mbit/s"),
        (units.parse_bitrate, "5 GBIT/S", "5 Gbit/s"),
        (units.parse_bitrate, "10 MB", "10 MB/s"),
        (units.parse_bytes, "64 kib", "64 KiB"),
        (units.parse_bytes, "64 KB", "64 kB"),
        (units.parse_packet_rate, "2mpps", "2 Mpps"),
        (units.parse_packet_rate, "5k", "5 kpps"),
        (units.parse_seconds, "3 m", "3 ms"),
        (units.parse_seconds, "3 usek", "3 us"),
        (units.parse_microseconds, "3 US", "3 us"),
        (units.parse_load, "3Gb", "3 Gbit/s"),
    ],
)
def test_a_unit_that_does_not_exist_is_refused_with_the_nearest(parse, text, meant):
    with pytest.raises(UnitError) as caught:
        parse(text)
    assert caught.value.nearest == meant
    parse(meant)


@reproducible
@given(text=st.text(max_size=40), parse=st.sampled_from(PARSERS))
def test_any_text_gives_a_number_or_a_unit_error(text, parse):
    try:
        parse(text)
    except UnitError as error:
        assert len(str(error).splitlines()) == 1


@reproducible
@given(
    value=st.floats(1e-15, 1e18),
    pair=st.sampled_from(
        [
            (units.format_seconds, units.parse_seconds),
            (units.format_bitrate, units.parse_bitrate),
            (units.format_rate, units.parse_packet_rate),
        ]
    ),
)
def test_parsing_what_was_formatted_gives_the_rounded_number(value, pair):
    write, read = pair
    text = write(value)
    assert read(text) == pytest.approx(value, rel=ROUNDED)
    assert write(read(text)) == text


@reproducible
@given(size=st.floats(1, 1e15))
def test_parsing_a_formatted_size_gives_the_rounded_size(size):
    assert units.parse_bytes(units.format_bytes(size)) == pytest.approx(size, rel=ROUNDED)


@reproducible
@given(size=st.integers(1, 9_999_999))
def test_a_whole_size_is_shown_exactly(size):
    assert units.parse_bytes(units.format_bytes(size)) == size


@reproducible
@given(value=st.floats(1e-9, 1e3), share=st.floats(1e-5, 10))
def test_digits_follow_the_error(value, share):
    error = share * value
    shown = units.parse_seconds(units.format_seconds(value, error))
    assert abs(shown - value) <= error / 19  # half a unit of the second digit of the error


@pytest.mark.parametrize(
    ("seconds", "error", "text"),
    [
        (488e-6, None, "488 us"),
        (10e-6, None, "10.0 us"),
        (999.6e-6, None, "1.00 ms"),
        (-3e-6, None, "-3.00 us"),
        (0, None, "0 s"),
        (0.0, 2e-6, "0.0 us"),
        (12.3412e-6, 0.12e-6, "12.34 us"),
        (12.3412e-6, 1.2e-6, "12.3 us"),
        (12.3412e-6, 12e-6, "12 us"),
        (1234.5e-6, 120e-6, "1.23 ms"),
        (12.3412e-6, 0, "12.3 us"),
        (12.3412e-6, math.inf, "12.3 us"),
        (1e-30, None, "1.00e-30 s"),
        (math.inf, None, "inf"),
        (math.nan, None, "nan"),
        (None, None, "-"),
    ],
)
def test_times_are_written_as_a_person_would(seconds, error, text):
    assert units.format_seconds(seconds, error) == text


def test_other_quantities_are_written_as_a_person_would():
    assert units.format_bitrate(934e6) == "934 Mbit/s"
    assert units.format_bitrate(9.412e9, 30e6) == "9.412 Gbit/s"
    assert units.format_rate(2e6) == "2.00 Mpps"
    assert units.format_rate(1234, unit="/s") == "1.23 k/s"
    assert units.format_bytes(1518) == "1518 B"
    assert units.format_bytes(65536) == "64 KiB"
    assert units.format_bytes(1500, 200) == "1.46 KiB"
    assert units.format_share(0.31415) == "31.4 %"
    assert units.format_share(1.2345, 0.01) == "123.4 %"
    assert [
        write(None) for write in (units.format_bitrate, units.format_rate, units.format_bytes, units.format_share)
    ] == ["-"] * 4
