"""Claims 54 to 60 and 76 to 82, observations O10 to O15: batched descriptors and batch sizes of the vhost worker."""

import pytest

from tests.claims.asking import (
    BROADWELL,
    NOISE_RX,
    NOISE_TX,
    ask,
    close,
    context,
    mbps,
    names,
    pps,
    rising,
    rows,
    seconds,
    us,
)

TX, RX = {"direction": "from-vm", "size": 64}, {"direction": "to-vm", "size": 60}
BASE, BATCH, BUF_API = {"batched_fetch": False}, {"batched_fetch": True}, {"batched_fetch": True, "buf_api": True}
BATCHES = (1, 16, 32, 64, 128, 256, 512)
DESCRIPTORS = (0, 1, 32, 64, 128, 256, 512)
WAYS = pytest.mark.parametrize(("way", "noise"), [(TX, NOISE_TX), (RX, NOISE_RX)], ids=["tx", "rx"])


def rate(way, variant, **settings):
    return pps("virtio-user", **way, **variant, **settings)


def worker(way, variant, *stages, **settings):
    p = ask("virtio-user", workload="packets", **way, **variant, **settings)
    return seconds(p, *stages)


def measured(first):
    """Rates of a run of rows in the order of their ids."""
    return [rows("perezmartin2020")[f"004-{n:03}"].value for n in range(first, first + 7)]


def test_claim_54_no_change_in_performance_holds_within_the_noise_for_transmit_only():
    assert abs(rate(TX, BATCH) / rate(TX, BASE) - 1) < NOISE_TX
    assert rate(RX, BATCH) / rate(RX, BASE) - 1 > NOISE_RX


@WAYS
def test_claim_55_a_fetch_costs_a_part_for_each_turn_and_a_part_for_each_descriptor(way, noise):
    stage = "vhost_fetch_send" if way is TX else "vhost_fetch_receive"
    cost = {n: worker(way, BATCH, stage, descriptor_batch=n) for n in (0, 1, 3, 1000)}
    turn = 2 * (cost[0] - cost[1])  # nominal 0 reads one descriptor, nominal 1 reads two
    assert turn > 0
    assert cost[1] - cost[3] == pytest.approx(turn / 4)
    assert cost[0] - turn == pytest.approx(cost[1000], rel=0.01)
    assert cost[1000] > 0


def test_claim_55_no_more_descriptors_are_fetched_than_there_are():
    def fetch(nominal):
        p = ask("virtio-vhost", workload="rr", topology="host-vm", profile=BROADWELL, descriptor_batch=nominal, **BATCH)
        return seconds(p, "vhost_fetch_send")  # one message under way: one transmit descriptor is available

    assert fetch(64) == pytest.approx(fetch(0))


@WAYS
def test_claim_56_the_buffer_interface_stays_within_what_three_sessions_disagree_about(way, noise):
    # A gain is claimed; the figures have it between -2 and +10 % on transmit, -3 and +1 % on receive.
    least, most = (-0.022, 0.101) if way is TX else (-0.026, 0.011)
    assert least - noise < rate(way, BUF_API) / rate(way, BATCH) - 1 < most + noise


@WAYS
def test_claim_57_packet_batch_and_descriptor_batch_are_two_settings(way, noise):
    assert rate(way, BATCH, batch=16, descriptor_batch=64) < rate(way, BATCH, batch=64, descriptor_batch=64)
    assert rate(way, BATCH, batch=64, descriptor_batch=1) < rate(way, BATCH, batch=64, descriptor_batch=64)
    assert rate(way, BATCH, batch=64) == rate(way, BATCH, batch=64, descriptor_batch=64)


@WAYS
def test_claim_58_the_packet_batch_matters_most_and_the_descriptor_batch_not_at_all_for_the_base(way, noise):
    packets = [rate(way, BASE, batch=n) for n in BATCHES]
    descriptors = [rate(way, BASE, descriptor_batch=n) for n in DESCRIPTORS]
    patched = [rate(way, BATCH, descriptor_batch=n) for n in DESCRIPTORS]
    assert max(packets) / min(packets) > 1.4
    assert max(descriptors) / min(descriptors) < 1.003
    assert 1 < max(patched) / min(patched) < 1.08
    if way is TX:
        assert close(min(packets), 2.293e6, NOISE_TX) and close(max(packets), 3.694e6, NOISE_TX)


@pytest.mark.parametrize("topology", ["cross-host-vm", "vm-vm", "cross-vm-vm"])
def test_claim_59_vdpa_has_no_vhost_worker_and_reads_no_descriptors_for_it(topology):
    p = ask("vdpa", workload="rr", topology=topology)
    assert not [n for n in names(p) if n.startswith(("vhost", "worker", "tap"))]
    assert not [k for k in p.demands_s if k.startswith("vhost worker")]
    assert p.latency_s == ask("vdpa", workload="rr", topology=topology, **BATCH).latency_s


def test_claim_60_patched_and_base_agree_on_the_virtio_user_transmit_path():
    for batch in BATCHES:
        assert close(rate(TX, BATCH, batch=batch), rate(TX, BASE, batch=batch), NOISE_TX)


def test_claim_76_transmit_loses_a_little_by_batching():
    told = rows("perezmartin2020")["004-031"].value / rows("perezmartin2020")["004-028"].value
    assert told < 1
    assert rate(TX, BATCH) < rate(TX, BASE)
    assert close(rate(TX, BATCH) / rate(TX, BASE), told, NOISE_TX)


def test_claim_77_receive_gains_by_batching_and_the_buffer_interface_is_near_the_base():
    # The base of this session lies 4.7 % above that of the next one, so no comparison within it is better than that.
    between_sessions = 0.05
    seen = {k: rows("perezmartin2020")[f"004-0{n}"].value for k, n in (("base", 49), ("batch", 51), ("buf", 53))}
    assert rate(RX, BATCH) > rate(RX, BASE)
    assert close(rate(RX, BATCH) / rate(RX, BASE), seen["batch"] / seen["base"], between_sessions)
    assert close(rate(RX, BUF_API) / rate(RX, BASE), seen["buf"] / seen["base"], between_sessions + NOISE_RX)


@pytest.mark.parametrize(("way", "told", "noise"), [(TX, -0.026, NOISE_TX), (RX, -0.002, NOISE_RX)], ids=["tx", "rx"])
def test_claim_78_a_batch_of_one_descriptor_is_not_the_base_on_transmit_but_is_on_receive(way, told, noise):
    change = rate(way, BATCH, descriptor_batch=0) / rate(way, BASE) - 1
    assert abs(change - told) < noise
    if way is TX:
        assert change < 0


def test_claim_79_batched_transmit_is_below_the_base_at_every_size_and_saturates():
    base, batch = ([rate(TX, v, batch=n) for n in BATCHES] for v in (BASE, BATCH))
    assert all(0.94 < b / a < 1 for a, b in zip(base, batch, strict=True))
    assert rising(batch)
    assert batch[3] > 1.4 * batch[0]
    assert batch[-1] < 1.02 * batch[3]
    seen = zip(measured(71), batch, strict=True)
    assert all(close(mine, told, NOISE_TX) for told, mine in seen)


def test_claim_80_receive_gains_most_at_size_one_and_saturates():
    base, batch, buf = ([rate(RX, v, batch=n) for n in BATCHES] for v in (BASE, BATCH, BUF_API))
    gains = [b / a - 1 for a, b in zip(base, batch, strict=True)]
    told = [b / a - 1 for a, b in zip(measured(86), measured(93), strict=True)]
    assert max(gains) == gains[0] and abs(gains[0] - 0.19) < NOISE_RX
    assert all(0.03 < g < 0.09 for g in gains[1:])
    assert all(abs(g - t) < NOISE_RX for g, t in zip(gains, told, strict=True))
    assert all(b < a for a, b in zip(batch[:4], buf[:4], strict=True))
    large = [b / a - 1 for a, b in zip(batch[4:], buf[4:], strict=True)]
    assert all(abs(x - t) < 2**0.5 * NOISE_RX for x, t in zip(large, (0.004, -0.008, 0.020), strict=True))
    assert batch[-1] < 1.05 * batch[3]


def test_claim_81_descriptor_batches_cost_transmit_a_little_and_help_receive_until_64():
    for variant in (BATCH, BUF_API):
        losses = [1 - rate(TX, variant, descriptor_batch=n) / rate(TX, BASE) for n in DESCRIPTORS]
        assert all(x > 0 for x in losses) and all(abs(x - 0.025) < NOISE_TX for x in losses)
        gains = [rate(RX, variant, descriptor_batch=n) / rate(RX, BASE) - 1 for n in DESCRIPTORS]
        assert rising(gains)
        assert abs(gains[0]) < NOISE_RX and abs(gains[3] - 0.055) < NOISE_RX
        assert gains[-1] - gains[3] < 0.005


@WAYS
def test_claim_82_a_larger_packet_batch_does_not_lower_the_base(way, noise):
    swept = [rate(way, BASE, batch=n) for n in (*BATCHES, 1024, 2048)]
    assert rising(swept)
    assert swept[-1] < 1.10 * swept[3]


def test_observation_o10_two_days_differ_by_4_percent_on_transmit_and_the_model_lies_between():
    seen = rows("perezmartin2020")
    first, second = seen["004-067"].value, seen["004-138"].value
    assert 0.03 < first / second - 1 < 0.05
    assert second * (1 - NOISE_TX / 2) < rate(TX, BASE, batch=64) < first * (1 + NOISE_TX / 2)


COUNTED = {
    "004-021": "004-028",
    "004-023": "004-031",
    "004-025": "004-034",
    "004-055": "004-049",
    "004-057": "004-051",
    "004-059": "004-053",
}


@pytest.mark.parametrize("counted", COUNTED)
def test_observation_o11_rates_from_counters_are_one_fifth_too_high_and_left_out(counted):
    seen = rows("perezmartin2020")
    own = seen[COUNTED[counted]]
    assert seen[counted].value / own.value == pytest.approx(1.20, abs=0.005)
    assert "1.20" in seen[counted].excluded and not own.excluded


def test_observation_o12_each_tool_counts_its_own_bytes_for_a_packet():
    found = [r for r in context("perezmartin2020") if "bytes per packet implied" in r["note"]]
    implied = {r["subject"].split("/")[-1]: set() for r in found}
    for r in found:
        implied[r["subject"].split("/")[-1]].add(int(r["note"].split()[0]))
    assert implied == {"pktgen": {42}, "testpmd": {58, 64}}  # 64 sent, 58 received
    ratio = next(float(r["value"]) for r in context("perezmartin2020") if r["id"] == "004-022")
    assert ratio / rows("perezmartin2020")["004-021"].value == pytest.approx(64, abs=0.01)


def test_observation_o13_transmit_is_about_twice_as_fast_as_receive():
    assert close(rate(TX, BASE) / rate(RX, BASE), 1.97, 2**0.5 * NOISE_TX)
    assert 3.4e6 < rate(TX, BASE) < 3.7e6 and 1.75e6 < rate(RX, BASE) < 1.9e6


@WAYS
def test_observation_o14_copying_does_not_shrink_by_the_patch(way, noise):
    stages = ("vhost_copy_send", "vhost_copy_receive")
    assert worker(way, BATCH, *stages) == pytest.approx(worker(way, BASE, *stages))


def test_observation_o15_a_nominal_batch_of_zero_is_one_descriptor_and_like_the_base_on_receive():
    one = worker(RX, BATCH, "vhost_fetch_receive", descriptor_batch=0)
    two = worker(RX, BATCH, "vhost_fetch_receive", descriptor_batch=1)
    endless = worker(RX, BATCH, "vhost_fetch_receive", descriptor_batch=65536)
    assert one - endless == pytest.approx(2 * (two - endless), rel=0.01)
    assert close(rate(RX, BATCH, descriptor_batch=0), rate(RX, BASE), NOISE_RX)


def test_the_kernel_path_of_the_same_machine_agrees_between_base_and_patch():
    asked = dict(topology="vm-vm", profile=BROADWELL)
    assert close(us("virtio-vhost", **asked, **BATCH), us("virtio-vhost", **asked, **BASE), 0.01)
    assert close(mbps("virtio-vhost", **asked, **BATCH), mbps("virtio-vhost", **asked, **BASE), 0.01)
