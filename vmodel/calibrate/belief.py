"""What is believed of the parameters before new rows: a normal law of their logarithms, taken from a profile."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.core.records import Profile
from vmodel.library.profile import value_of

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """Mean and covariance of the logarithms of the named parameters."""

    names: tuple[str, ...]
    mean: Array
    covariance: Array


def belief(profile: Profile, names: Sequence[str]) -> Belief:
    """The law that a profile gives the named parameters: its fit's covariance, and the errors of all others alone."""
    values = [value_of(profile, name) for name in names]
    covariance = np.diag([v.log_error**2 for v in values])
    order = {name: i for i, name in enumerate(profile.correlated)}
    fitted = [(j, order[name]) for j, name in enumerate(names) if name in order]
    for j, a in fitted:
        for k, b in fitted:
            covariance[j, k] = profile.covariance[max(a, b)][min(a, b)]
    return Belief(names=tuple(names), mean=np.log([v.value for v in values]), covariance=covariance)
