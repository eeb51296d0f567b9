"""Text with a unit to SI floats and back, and the only conversion factors of the package; no quantity objects.

Sizes: K, M, G, T and KiB, MiB, GiB, TiB are powers of 1024; kB, MB, GB, TB are decimal. Rates: prefixes are decimal
unless written Ki, Mi, Gi. A `b` is a bit and a `B` is a byte. A spelling that different tools read differently (`25G`,
`100mbps`) is refused with the spelling that was probably meant.
"""

import math
import re
import sys
from typing import Final, Literal, NamedTuple

from vmodel.errors import UnitError, nearest

MS_PER_S: Final = 1e3
US_PER_S: Final = 1e6
NS_PER_S: Final = 1e9
BITS_PER_BYTE: Final = 8
BYTES_PER_KIB: Final = 1024
BYTES_PER_MIB: Final = 1024**2
BYTES_PER_GIB: Final = 1024**3
BYTES_PER_GB: Final = 1e9
BPS_PER_KBPS: Final = 1e3
BPS_PER_MBPS: Final = 1e6
BPS_PER_GBPS: Final = 1e9
PPS_PER_KPPS: Final = 1e3
PPS_PER_MPPS: Final = 1e6
HZ_PER_MHZ: Final = 1e6
HZ_PER_GHZ: Final = 1e9
PERCENT_PER_ONE: Final = 100

DECIMAL: Final = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
BINARY: Final = {"Ki": 1024.0, "Mi": 1024.0**2, "Gi": 1024.0**3, "Ti": 1024.0**4}

LONGEST_EXACT = 7  # digits of a size that are shown without rounding
MOST_DIGITS = 12  # significant digits ever shown
DIGITS, ERROR_DIGITS = 3, 2  # significant digits without an error, and of the error
WIDEST, MOST_DECIMALS = 1e6, 9  # beyond these a number is written with an exponent

LoadKind = Literal["rate_pps", "throughput_bps", "max"]


class _Quantity(NamedTuple):
    """One kind of quantity: every spelling with its factor, the spellings to suggest, and what to say that it is."""

    factors: dict[str, float]
    suggested: tuple[str, ...]
    wanted: str
    least: float


def _byte_factors() -> dict[str, float]:
    factors = {"": 1.0, "byte": 1.0, "bytes": 1.0, "k": BINARY["Ki"]}
    factors |= {prefix + "B": factor for prefix, factor in (DECIMAL | BINARY).items()}
    return factors | {prefix[0]: factor for prefix, factor in BINARY.items()}


def _bitrate_factors() -> dict[str, float]:
    factors: dict[str, float] = {}
    for prefix, factor in (DECIMAL | {"K": DECIMAL["k"]} | BINARY).items():
        factors |= {prefix + unit: factor for unit in ("bit/s", "bits/s", "b/s", "bps", "bit")}
        factors |= {prefix + unit: factor * BITS_PER_BYTE for unit in ("B/s", "Byte/s", "Bytes/s")}
    for prefix, factor in DECIMAL.items():  # as tc and libvirt write it; with the b spelt out nothing is ambiguous
        factors |= {prefix.lower() + unit: factor for unit in ("bit/s", "bit")}
    return factors


def _packet_rate_factors() -> dict[str, float]:
    units = ("pps", "packets/s", "pkt/s", "pkts/s")
    return {prefix + unit: factor for prefix, factor in (DECIMAL | {"K": 1e3}).items() for unit in units}


def _request_rate_factors() -> dict[str, float]:
    units = ("rps", "requests/s", "req/s")
    return {prefix + unit: factor for prefix, factor in (DECIMAL | {"K": 1e3}).items() for unit in units}


def _second_factors() -> dict[str, float]:
    prefixes = {"": 1.0, "m": 1 / MS_PER_S, "u": 1 / US_PER_S, "n": 1 / NS_PER_S}
    return {prefix + unit: factor for prefix, factor in prefixes.items() for unit in ("s", "sec", "secs")}


_POSITIVE = sys.float_info.min
_BYTES = _Quantity(
    _byte_factors(),
    ("B", "KiB", "MiB", "GiB", "kB", "MB", "GB"),
    'a size of at least one byte, such as "1500" or "64KiB"',
    1.0,
)
_BITRATE = _Quantity(
    _bitrate_factors(),
    ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "B/s", "kB/s", "MB/s", "GB/s", "KiB/s", "MiB/s", "GiB/s"),
    'a bit rate above zero, such as "10Gbit/s"',
    _POSITIVE,
)
_PACKET_RATE = _Quantity(
    _packet_rate_factors(), ("pps", "kpps", "Mpps", "Gpps"), 'a packet rate above zero, such as "200kpps"', _POSITIVE
)
_SECONDS = _Quantity(_second_factors(), ("s", "ms", "us", "ns"), 'a time of zero or more, such as "10us"', 0.0)
_MICROSECONDS = _SECONDS._replace(
    factors=_SECONDS.factors | {"": 1 / US_PER_S},
    wanted='a time of zero or more, such as "10" (microseconds) or "1.5ms"',
)
_MESSAGE_RATE = _PACKET_RATE.factors | _request_rate_factors()
_LOAD = _Quantity(
    _BITRATE.factors | _MESSAGE_RATE,
    ("pps", "kpps", "Mpps", "Gpps", "rps", "krps", *_BITRATE.suggested),
    'a load above zero, such as "200kpps", "20krps", "3Gbit/s" or "max"',
    _POSITIVE,
)

_NUMBER_AND_UNIT = re.compile(r"\s*(\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)\s*(.*?)\s*", re.DOTALL)
_MICRO = str.maketrans({"\N{MICRO SIGN}": "u", "\N{GREEK SMALL LETTER MU}": "u"})


def parse_bytes(text: str | float) -> float:
    """Return a size [bytes]; a plain number is bytes, anything below one byte is refused."""
    return _read(text, _BYTES)[0]


def parse_bitrate(text: str | float) -> float:
    """Return a bit rate [bit/s]; the unit is required."""
    return _read(text, _BITRATE)[0]


def parse_packet_rate(text: str | float) -> float:
    """Return a packet rate [packets/s]; the unit is required."""
    return _read(text, _PACKET_RATE)[0]


def parse_seconds(text: str | float) -> float:
    """Return a time [s]; the unit is required."""
    return _read(text, _SECONDS)[0]


def parse_microseconds(text: str | float) -> float:
    """Return a time [s], where a plain number is microseconds as in `ethtool -C`."""
    return _read(text, _MICROSECONDS)[0]


def parse_load(text: str | float) -> tuple[LoadKind, float]:
    """Return which kind of load this is and its size [messages/s or bit/s]; `max` has infinite size."""
    if str(text).strip().lower() == "max":
        return "max", math.inf
    value, unit = _read(text, _LOAD)
    return ("rate_pps" if unit in _MESSAGE_RATE else "throughput_bps"), value


def _read(text: str | float, quantity: _Quantity) -> tuple[float, str]:
    match = _NUMBER_AND_UNIT.fullmatch(str(text))
    if match is None:
        raise UnitError(str(text), quantity.wanted)
    number, unit = match[1], match[2].translate(_MICRO)
    if unit not in quantity.factors:
        hint = _nearest_unit(unit, quantity.suggested)
        raise UnitError(str(text), quantity.wanted, f"{number} {hint}" if hint else None)
    factor = quantity.factors[unit]
    # Dividing by a whole power of ten is exact where multiplying by its rounded inverse is not: 3 us is 3e-06 s.
    value = float(number) / round(1 / factor) if factor < 1 else float(number) * factor
    if not quantity.least <= value < math.inf:
        raise UnitError(str(text), quantity.wanted)
    return value, unit


def _nearest_unit(unit: str, suggested: tuple[str, ...]) -> str | None:
    """Return the unit probably meant; a bit is never offered for a byte while there is a choice."""
    if not unit:
        return None
    bytes_meant = "B" in unit and "bit" not in unit.casefold()
    same_b = [spelling for spelling in suggested if ("B" in spelling) == bytes_meant] or list(suggested)
    for spelling in same_b:
        if spelling.casefold() == unit.casefold():
            return spelling
    for spelling in same_b:
        if spelling.startswith(unit):
            return spelling
    same_prefix = [spelling for spelling in same_b if spelling[0].casefold() == unit[0].casefold()]
    return nearest(unit, same_prefix) or nearest(unit, same_b)


def format_seconds(seconds: float | None, error: float | None = None) -> str:
    """Return a time as text, its digits following the standard error, or three significant ones without."""
    return _write(seconds, error, {"ns": 1 / NS_PER_S, "us": 1 / US_PER_S, "ms": 1 / MS_PER_S, "s": 1.0})


def format_joules(joules: float | None, error: float | None = None) -> str:
    """Return an energy as text, its digits following the standard error, or three significant ones without."""
    return _write(joules, error, {"nJ": 1 / NS_PER_S, "uJ": 1 / US_PER_S, "mJ": 1 / MS_PER_S, "J": 1.0})


def format_bitrate(bps: float | None, error: float | None = None) -> str:
    """Return a bit rate as text, its digits following the standard error."""
    return _write(bps, error, {prefix + "bit/s": factor for prefix, factor in DECIMAL.items()})


def format_rate(per_s: float | None, error: float | None = None, *, unit: str = "pps") -> str:
    """Return a rate of packets (or of what the unit says) as text, its digits following the standard error."""
    return _write(per_s, error, {prefix + unit: factor for prefix, factor in DECIMAL.items()})


def format_bytes(size: float | None, error: float | None = None) -> str:
    """Return a size as text; a whole number of bytes without error stays exact up to seven digits."""
    units = {"B": 1.0} | {prefix + "B": factor for prefix, factor in BINARY.items()}
    if size is None or error is not None or not math.isfinite(size) or size != int(size) or size == 0:
        return _write(size, error, units)
    unit = max((unit for unit, factor in units.items() if size % factor == 0), key=lambda unit: units[unit])
    exact = f"{size / units[unit]:.0f}"
    return f"{exact} {unit}" if len(exact.lstrip("-")) <= LONGEST_EXACT else _write(size, error, units)


def format_share(share: float | None, error: float | None = None) -> str:
    """Return a share of one as per cent, its digits following the standard error; more than 100 % is shown as it is."""
    return _write(share, error, {"%": 1 / PERCENT_PER_ONE})


def _leading(value: float, digits: int) -> int:
    """Return the decimal exponent of a number once rounded to this many significant digits."""
    return int(f"{abs(value):.{digits - 1}e}".partition("e")[2])


def _last_digit(value: float, margin: float) -> int:
    """Return the decimal exponent of the last digit worth showing; a margin of zero stands for an unknown error."""
    if margin == 0:
        return _leading(value, DIGITS) - DIGITS + 1
    least = _leading(value, MOST_DIGITS) - MOST_DIGITS + 1 if value else -sys.maxsize
    return max(least, _leading(margin, ERROR_DIGITS) - ERROR_DIGITS + 1)


def _write(value: float | None, error: float | None, units: dict[str, float]) -> str:
    """Write a number with the largest unit that leaves something before the point; units come smallest first."""
    base = next(unit for unit, factor in units.items() if factor == 1 or len(units) == 1)
    if value is None:
        return "-"
    if not math.isfinite(value):
        return str(float(value))
    margin = error if error is not None and 0 < error < math.inf else 0.0
    if value == 0 and margin == 0:
        return f"0 {base}"
    rounded = round(value, -_last_digit(value, margin))
    size = max(abs(rounded), margin) * (1 + sys.float_info.epsilon)
    unit = max((unit for unit in units if units[unit] <= size), key=units.__getitem__, default=next(iter(units)))
    scaled, last = value / units[unit], _last_digit(value / units[unit], margin / units[unit])
    scaled = round(scaled, -last)
    if -last <= MOST_DECIMALS and abs(scaled) < WIDEST:
        return f"{scaled:.{max(0, -last)}f} {unit}"
    if scaled == 0:
        return f"0 {base}"
    return f"{scaled * units[unit] / units[base]:.{_leading(scaled, MOST_DIGITS) - last}e} {base}"
