"""Device table for interrupt moderation: what each driver makes of a setting."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vmodel.errors import ScenarioError, UnknownName
from vmodel.library.moderation import devices, moderate, references
from vmodel.units import US_PER_S

ALL = sorted(devices())
NAMED = "igb igbvf ixgbe ixgbevf i40e iavf ice mlx5 ena virtio vhost tap e1000 rtl8139 rtl8029 vmxnet3 netvsc dwmac"
SMALLEST_S = 10 / US_PER_S
USECS = st.one_of(st.integers(0, 200), st.integers(0, 20_000), st.floats(0, 20_000))


def us(interval_s):
    return interval_s * US_PER_S


def ordinary(device, value):
    return devices()[device].mode(value) is None


def test_every_asked_device_is_in_the_table():
    assert set(NAMED.split()) <= set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_every_record_is_complete_and_cited(name):
    record = devices()[name]
    assert record.kind in {"throttle", "holdoff", "none"}
    assert record.adaptive_mechanism in {"itr-classes", "dim", "ena-dim", "none"}
    assert record.title and record.note and record.cites
    assert set(record.cites) <= set(references())
    assert 0 <= record.min_rx_usecs <= record.max_rx_usecs
    assert record.step_us > 0
    assert bool(record.tiers) == (record.adaptive_mechanism != "none")
    assert record.special == () or {special.mode for special in record.special} <= {"adaptive", "off", "unchanged"}
    assert all((special.tier is not None) == (special.mode == "adaptive") for special in record.special)


def test_every_reference_is_used_and_complete():
    used = {key for record in devices().values() for key in record.cites}
    assert used == set(references())
    assert all(set(source) == {"title", "venue", "year"} for source in references().values())


@pytest.mark.parametrize("name", ALL)
def test_defaults_raise_no_warning(name):
    result = moderate(name)
    assert result.honoured and result.warnings == ()
    assert (result.interval_s is None) == (result.parameter is not None)
    assert result.adaptive == devices()[name].adaptive_default
    assert (result.kind == "none") <= (result.interval_s == 0)


@pytest.mark.parametrize(
    ("name", "parameter"), [("igb", "pf_adaptive_interval_s"), ("igbvf", "vf_adaptive_interval_s")]
)
def test_three_is_an_adaptive_mode_and_never_waits_less_than_ten(name, parameter):
    three, ten = moderate(name, rx_usecs=3), moderate(name, rx_usecs=10)
    assert three.adaptive and three.parameter == parameter
    assert three.interval_s is None or three.interval_s >= SMALLEST_S
    assert not ten.adaptive and ten.parameter is None
    assert ten.interval_s == pytest.approx(SMALLEST_S)
    assert all(tier.usecs >= us(ten.interval_s) for tier in devices()[name].tiers)
    assert "adaptive" in three.warnings[0]


@pytest.mark.parametrize("name", ["igb", "igbvf"])
def test_three_is_the_default_of_the_82576_drivers(name):
    asked, default = moderate(name, rx_usecs=3), moderate(name)
    assert (asked.interval_s, asked.parameter, asked.adaptive) == (None, default.parameter, True)


def test_ten_is_the_smallest_ordinary_value_of_the_82576_vf():
    five = moderate("igbvf", rx_usecs=5)
    assert us(five.interval_s) == pytest.approx(10)
    assert "10" in five.warnings[0]
    assert moderate("igbvf", rx_usecs=10).warnings == ()
    assert us(moderate("igbvf", rx_usecs=20_000).interval_s) == pytest.approx(10_000)


@pytest.mark.parametrize("name", ["ixgbe", "ixgbevf"])
def test_one_is_a_mode_and_three_a_time_on_ten_gigabit_intel(name):
    assert moderate(name, rx_usecs=1).adaptive
    assert us(moderate(name, rx_usecs=3).interval_s) == pytest.approx(2)


@pytest.mark.parametrize("name", [n for n in ALL if any(s.mode == "off" for s in devices()[n].special)])
def test_zero_turns_moderation_off(name):
    result = moderate(name, rx_usecs=0, adaptive=False)
    assert result.interval_s == 0 and not result.adaptive and result.warnings == ()


def test_zero_does_not_turn_the_dwmac_timer_off():
    result = moderate("dwmac", rx_usecs=0)
    assert result.interval_s == moderate("dwmac").interval_s and not result.honoured


@pytest.mark.parametrize("name", ["mlx5", "i40e", "iavf", "ice"])
@pytest.mark.parametrize("usecs", [1, 10, 100])
def test_adaptive_mode_overrides_the_number(name, usecs):
    result = moderate(name, rx_usecs=usecs)
    assert result.adaptive and not result.honoured
    assert result.interval_s == moderate(name).interval_s
    assert "overrides" in result.warnings[0]


def test_number_counts_once_the_adaptive_mode_is_off():
    result = moderate("mlx5", rx_usecs=100, rx_frames=64, adaptive=False)
    assert (us(result.interval_s), result.frames, result.honoured) == (pytest.approx(100), 64, True)


@pytest.mark.parametrize("name", ["virtio", "vhost", "tap", "rtl8139", "rtl8029", "netvsc", "ena_unmoderated"])
def test_devices_without_moderation_say_so(name):
    result = moderate(name, rx_usecs=50, rx_frames=8, adaptive=True)
    assert result.interval_s == 0 and result.frames is None and not result.adaptive
    assert not result.honoured
    assert all("not honoured" in warning for warning in result.warnings) and len(result.warnings) == 3


def test_virtio_with_the_coalescing_feature_listens():
    result = moderate("virtio_coal", rx_usecs=50, rx_frames=8)
    assert (us(result.interval_s), result.frames, result.honoured) == (pytest.approx(50), 8, True)


def test_emulated_e1000_keeps_its_floor_whatever_is_asked():
    result = moderate("e1000_emulated", rx_usecs=20)
    assert us(result.interval_s) == pytest.approx(500 * 0.256) and not result.honoured


def test_numbers_go_to_a_step_of_the_hardware():
    assert us(moderate("ice", rx_usecs=51, adaptive=False).interval_s) == pytest.approx(50)
    assert us(moderate("i40e", rx_usecs=51, adaptive=False).interval_s) == pytest.approx(52)
    assert us(moderate("ixgbe", rx_usecs=125).interval_s) == pytest.approx(124)
    assert us(moderate("e1000", rx_usecs=125).interval_s) == pytest.approx(488 * 0.256)


def test_dwmac_gains_what_a_measured_board_gained():
    gain = moderate("dwmac", rx_usecs=393).interval_s - moderate("dwmac", rx_usecs=50).interval_s
    assert us(gain) == pytest.approx(335, rel=0.1)  # ping average 605 us -> 270 us, drown-coalescing


def test_asking_for_fixed_moderation_without_a_number_is_answered():
    result = moderate("igbvf", adaptive=False)
    assert us(result.interval_s) == pytest.approx(10) and not result.adaptive and result.warnings


def test_adaptive_switch_that_does_not_exist_is_reported():
    result = moderate("igb", rx_usecs=50, adaptive=True)
    assert us(result.interval_s) == pytest.approx(50) and not result.honoured
    assert moderate("igb", adaptive=True).honoured


def test_frames_are_refused_where_there_is_only_a_timer():
    result = moderate("igbvf", rx_usecs=50, rx_frames=4)
    assert result.frames is None and not result.honoured and "rx-frames" in result.warnings[0]


def test_zero_frames_means_no_cap():
    assert moderate("mlx5", rx_usecs=8, rx_frames=0, adaptive=False).frames is None


@given(st.sampled_from(ALL), USECS, USECS)
def test_larger_ordinary_number_never_gives_a_smaller_interval(name, one, other):
    small, large = sorted((one, other))
    if ordinary(name, small) and ordinary(name, large):
        low, high = (moderate(name, rx_usecs=value, adaptive=False) for value in (small, large))
        if low.interval_s is not None and high.interval_s is not None:
            assert low.interval_s <= high.interval_s


@given(st.sampled_from(ALL), USECS)
def test_fixed_interval_stays_within_the_limits_of_the_device(name, value):
    record = devices()[name]
    result = moderate(name, rx_usecs=value, adaptive=False)
    if record.honoured and ordinary(name, value):
        assert record.min_rx_usecs - record.step_us < us(result.interval_s) < record.max_rx_usecs + record.step_us


@given(st.sampled_from(ALL), st.none() | USECS, st.none() | st.integers(0, 1 << 20), st.none() | st.booleans())
def test_every_wish_gets_a_consistent_answer(name, usecs, frames, adaptive):
    result = moderate(name, usecs, frames, adaptive)
    assert (result.interval_s is None) == (result.parameter is not None)
    assert result.parameter is None or result.adaptive
    assert result.interval_s is None or 0 <= result.interval_s < math.inf
    assert result.frames is None or result.frames >= 1
    assert result.honoured or result.warnings


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, -math.inf, 1e12])
def test_impossible_numbers_are_refused(value):
    with pytest.raises(ScenarioError):
        moderate("igb", rx_usecs=value)


@pytest.mark.parametrize("value", [-1, 1 << 40])
def test_impossible_frame_counts_are_refused(value):
    with pytest.raises(ScenarioError):
        moderate("mlx5", rx_frames=value)


def test_unknown_device_names_the_nearest():
    with pytest.raises(UnknownName) as caught:
        moderate("igbfv")
    assert caught.value.nearest == "igbvf"
