"""Laws of every stage: documented, cited, positive, homogeneous in seconds and bytes, not shrinking with size."""

import itertools

import pytest
import sympy

from tests.strategies import VARIANTS, counted
from vmodel.config import scenario
from vmodel.core.symbols import UNITS
from vmodel.library import tables
from vmodel.library.catalog import STAGES
from vmodel.library.traffic import TRAFFIC
from vmodel.solve import compose, evaluate

SIZES = (1, 64, 65, 500, 1448, 1449, 2048, 2897, 4096, 4097, 9000, 30_000, 65_483, 65_536, 65_537, 200_000, 1_000_000)
SECONDS_BY, BYTES_BY = 8.0, 4.0  # powers of two: scaling by them is exact, so whole numbers of packets stay whole
FACTORS = {"s": SECONDS_BY, "B": BYTES_BY, "B/s": BYTES_BY / SECONDS_BY, "": 1.0}
EXACT = 1e-12
all_stages = pytest.mark.parametrize("stage", STAGES.values(), ids=STAGES.keys())
all_traffic = pytest.mark.parametrize("law", TRAFFIC, ids=lambda law: law.name)


def knob_words(size=1024, direct=0.0, merges=1.0, polls=0.0, **knobs):
    """What the knobs are worth, as composition hands them to the traffic laws."""
    asked = scenario(path="virtio-vhost", profile="generic", size=size, **knobs)
    way = compose.scenario_ways(asked).forward
    words = compose.words(asked, way, dict.fromkeys(compose.POLLS, polls))
    return words | {"direct": direct, "merges": merges}


def contexts():
    """Sensible settings: the variants that wake sleeping stages, with and without merging, direct and through a NIC."""
    yield from (dict(v, **extra) for v in VARIANTS for extra in ({}, {"direct": 1.0, "merges": 0.0}, {"nodelay": True}))
    yield {"polls": 0.5}
    yield {"dma_engine": True}
    yield {"send_zero_copy": True, "iommu": True, "routes": 1000, "nat": True, "tx_flood": True, "queues": 4}
    yield {"batch": 1, "core_sharing": True, "event_idx": False}


def words_of(workload, size, context):
    return counted(workload, knob_words(**{**context, "size": size}))


WORDS = [
    [words_of(law.name, size, context) for size in SIZES] for law in TRAFFIC for context in contexts()
]  # one row per workload and setting, sizes ascending
MEDIANS = {name: prior.median for name, prior in tables.priors().items()}


def cost(stage, words, parameters=MEDIANS):
    function, _, _, needs, uses, *_ = evaluate.stage_rows()[stage.name]
    return function(*[words[w] for w in needs], *[parameters[p] for p in uses])


def bus(stage, words):
    row = evaluate.stage_rows()[stage.name]
    return row[2](*[words[w] for w in row[3]]) if row[2] else 0.0


def scaled(values, units):
    return {name: value * FACTORS[units(name)] for name, value in values.items()}


@all_stages
def test_stage_is_documented_in_one_sentence_or_more(stage):
    assert stage.about[0].isupper() or stage.about.split()[0] in ("netfront", "netback", "macvtap")
    assert stage.about.endswith(".") and len(stage.about.split()) >= 4


@all_stages
def test_stage_is_cited_and_every_key_resolves(stage):
    assert stage.cites
    assert set(stage.cites) <= set(tables.references())


@all_stages
def test_stage_uses_known_parameters_and_declared_words_only(stage):
    assert set(stage.parameters) <= set(tables.priors())
    assert set(stage.words) <= set(UNITS)
    assert not set(stage.words) & set(stage.parameters)


@all_stages
def test_stage_costs_are_never_negative_and_not_always_zero(stage):
    costs = [cost(stage, words) for words in itertools.chain(*WORDS)]
    assert min(costs) >= 0
    assert max(costs) > 0
    assert all(bus(stage, words) >= 0 for words in itertools.chain(*WORDS))


@all_stages
@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_stage_costs_stay_positive_for_any_positive_parameters(stage, factor):
    extreme = {name: value * factor for name, value in MEDIANS.items()}
    assert all(cost(stage, words, extreme) >= 0 for words in itertools.chain(*WORDS))


@all_stages
def test_stage_is_homogeneous_in_seconds_and_bytes(stage):
    parameters = scaled(MEDIANS, lambda name: tables.priors()[name].unit)
    for words in (row[i] for row in WORDS for i in (1, 7, 15)):
        larger = scaled({w: words[w] for w in stage.words}, UNITS.__getitem__)
        assert cost(stage, larger, parameters) == pytest.approx(SECONDS_BY * cost(stage, words), rel=EXACT)
        assert bus(stage, larger) == pytest.approx(BYTES_BY * bus(stage, words), rel=EXACT)


@all_stages
def test_stage_does_not_shrink_with_message_size(stage):
    for row in WORDS:
        costs = [cost(stage, words) for words in row]
        assert all(b >= a * (1 - EXACT) for a, b in itertools.pairwise(costs))


@pytest.mark.slow
@all_stages
def test_gradient_of_the_generated_code_is_the_derivative_of_the_formula(stage):
    gradient = evaluate.stage_rows()[stage.name][1]
    for words in (WORDS[0][6], WORDS[4][12], WORDS[-1][3]):
        values = {sympy.Symbol(n, nonnegative=True): v for n, v in (words | MEDIANS).items()}
        exact = [
            float(sympy.diff(stage.seconds, sympy.Symbol(p, nonnegative=True)).subs(values)) for p in stage.parameters
        ]
        got = gradient(*[words[w] for w in stage.words], *[MEDIANS[p] for p in stage.parameters])
        assert list(got) == pytest.approx(exact, rel=1e-9)


@all_stages
def test_gradient_of_the_generated_code_is_what_a_small_step_gives(stage):
    gradient = evaluate.stage_rows()[stage.name][1]
    step = 1e-4
    for words in (WORDS[0][6], WORDS[4][12], WORDS[-1][3]):
        got = gradient(*[words[w] for w in stage.words], *[MEDIANS[p] for p in stage.parameters])
        for parameter, slope in zip(stage.parameters, got, strict=True):
            value = MEDIANS[parameter]
            up, down = (cost(stage, words, MEDIANS | {parameter: value * f}) for f in (1 + step, 1 - step))
            scale = cost(stage, words) / value
            assert slope == pytest.approx((up - down) / (2 * step * value), rel=1e-6, abs=1e-9 * scale)


@all_traffic
def test_counts_keep_their_unit_when_every_byte_is_counted_in_another_unit(law):
    for context, size in itertools.product(contexts(), SIZES):
        words = knob_words(**{**context, "size": size})
        counts = counted(law.name, words)
        other = counted(law.name, scaled(words, UNITS.__getitem__))
        for word in law.counts:
            assert other[word] == pytest.approx(counts[word] * FACTORS[UNITS[word]], rel=EXACT), word


@all_traffic
def test_counts_are_never_negative_and_pieces_never_exceed_the_whole(law):
    for context, size in itertools.product(contexts(), SIZES):
        words = words_of(law.name, size, context)
        assert all(words[word] >= 0 for word in law.counts)
        for part in ("cold_bytes", "segment_cold_bytes", "vsock_cold_bytes", "first_packet_bytes"):
            assert words[part] <= words["bytes"]
        assert words["wire_bytes"] >= words["bytes"]
