"""Questions all over the catalogue: each path, topology, workload and direction; any profile, device, load, setting."""

import math
import random

from tests.strategies import combinations
from vmodel.config import scenario
from vmodel.errors import VmodelError
from vmodel.library import tables
from vmodel.library.moderation import devices
from vmodel.library.profile import shipped

REACH = {"in_flight": 300, "ring_size": 4096, "burst": 64, "batch": 1024}  # beyond it answers only take longer
SMALLEST = 1e-3
HIGHEST_LOAD = 3e7
SETTINGS = 8


def value(name, rng):
    """A legal value of a setting, even in the logarithm."""
    knob = tables.knob(name)
    if knob.kind == "switch":
        return rng.random() < 0.5
    most, least = min(knob.most, REACH.get(name, knob.most)), max(knob.least, SMALLEST)
    drawn = math.exp(rng.uniform(math.log(least), math.log(most)))
    drawn = max(knob.least, round(drawn)) if knob.kind == "count" else drawn
    return float(min(max(drawn, knob.least), knob.most))


def question(path, combination, rng):
    """A scenario with settings, a device, an offered load, a peer and a cost of its own, each by chance."""
    asked = {"path": path, "profile": rng.choice(shipped()), **combination}
    for name in rng.sample(sorted(tables.knobs()), rng.randrange(SETTINGS + 1)):
        asked[name] = value(name, rng)
    asked |= tables.endpoint(path).fixed
    if asked.get("imix") and combination["workload"] == "packets":
        asked.pop("size", None)
    if asked.get("zero_copy_rx"):
        asked["dedicated_nic"] = True
    if rng.random() < 0.3:
        asked["device"] = rng.choice(sorted(devices()))
    if combination["workload"] == "packets" and rng.random() < 0.7:
        asked["load"] = math.exp(rng.uniform(0.0, math.log(HIGHEST_LOAD)))
    if rng.random() < 0.3:
        cost = rng.choice(sorted(tables.priors()))
        asked[cost] = tables.priors()[cost].median * math.exp(rng.gauss(0, 1))
    return scenario(**asked)


def questions(rounds, seed):
    """Scenarios: so many of each combination of each path."""
    rng = random.Random(seed)
    for _ in range(rounds):
        for path in tables.path_names():
            for combination in combinations(path):
                yield question(path, combination, rng)


def with_other_peers(seed):
    """One scenario for each end that a path can meet and usually does not."""
    rng = random.Random(seed)
    for path in tables.path_names():
        for topology in tables.endpoint(path).topologies:
            for peer in tables.endpoints():
                try:
                    yield scenario(path=path, topology=topology, peer=peer, workload=rng.choice(tables.WORKLOADS))
                except VmodelError:
                    continue
