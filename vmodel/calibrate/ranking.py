"""Whether configurations are put in the right order: Kendall's tau over pairs that the measurements tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vmodel.calibrate.noise import LEAST_NOISE, configuration, noise_groups, repeat_noise, told
from vmodel.core.records import Observation

Array = NDArray[np.float64]
CLEAR = 2.0  # standard errors of the difference by which a pair must differ to be told apart
FEWEST = 4  # configurations that make an order


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Kendall's tau between measured and predicted, and the pairs of configurations behind it.

    clear: (agreeing - opposed) / pairs over the pairs that the measurements tell apart.  whole: the same over all pairs
    whose measured figures differ at all.  None where fewer pairs are left than four configurations have.
    """

    clear: float | None
    whole: float | None
    clear_pairs: int
    pairs: int


def ranking(rows: Sequence[Observation], predicted: Array) -> Ranking:
    """Rank the configurations of rows of one kind by measured and by predicted figure.

    predicted: logarithms [n].  Repeats are one configuration: the median of their figures.  Its noise is the larger
    of what repeats of its group differ by and of what its rows state, over the root of their number; two whose
    logarithms differ by less than 2 sqrt(s1^2 + s2^2) are not told apart.  A pair predicted equal agrees half.
    Source: M. G. Kendall, A new measure of rank correlation, Biometrika 30 (1938) 81.
    """
    places: dict[tuple[object, ...], list[int]] = {}
    for i, row in enumerate(rows):
        places.setdefault(configuration(row), []).append(i)
    logs, stated = np.log([row.value for row in rows]), np.nan_to_num(told(rows))
    groups, known = noise_groups(rows), repeat_noise(rows)
    measured, guessed, noise = [], [], []
    for each in places.values():
        measured.append(float(np.median(logs[each])))
        guessed.append(float(np.median(predicted[each])))
        own = max(LEAST_NOISE, known.get(groups[each[0]], 0.0), float(np.median(stated[each])))
        noise.append(own / np.sqrt(len(each)))
    first, second = np.triu_indices(len(places), k=1)
    m, p, s = np.array(measured), np.array(guessed), np.array(noise)
    apart = m[first] - m[second]
    agree = np.sign(apart) * np.sign(p[first] - p[second])
    clear = np.abs(apart) > CLEAR * np.hypot(s[first], s[second])
    return Ranking(
        clear=_mean(agree[clear]),
        whole=_mean(agree[apart != 0]),
        clear_pairs=int(clear.sum()),
        pairs=len(apart),
    )


def _mean(agree: Array) -> float | None:
    return float(agree.mean()) if len(agree) >= FEWEST * (FEWEST - 1) // 2 else None
