# SPDX-License-Identifier: BSL-1.0
"""The statistics: medians and their spread, and the ratio of what ran side by side."""

import random
import statistics
from dataclasses import dataclass

RESAMPLES = 4000


def spread(values):
    """The median absolute deviation."""
    middle = statistics.median(values)
    return statistics.median(abs(value - middle) for value in values)


def interval(values, confidence=0.95):
    """Where the median lies with this confidence, by the bootstrap (the percentiles of the medians
    of resamples). The same values give the same interval."""
    chance = random.Random(1)
    medians = sorted(
        statistics.median(chance.choices(values, k=len(values))) for _ in range(RESAMPLES)
    )
    outside = (1 - confidence) / 2
    return medians[int(outside * RESAMPLES)], medians[int((1 - outside) * RESAMPLES) - 1]


@dataclass
class Comparison:
    of: float
    of_spread: float
    to: float | None = None
    to_spread: float | None = None
    reference: str | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    pairs: int = 0


def best(runs, lower_is_better):
    """The name of the run, of {name: values}, with the best median."""
    choose = min if lower_is_better else max
    return choose(runs, key=lambda name: statistics.median(runs[name]))


def compare(of, references, lower_is_better, pairs):
    """The values of a run with those of its references, {name: values}: the one with the best median
    is the one that counts. The n-th values of all are of one round, and the ratio is taken round by
    round, so that a machine whose speed drifts does not distort it."""
    of = of[:pairs]
    result = Comparison(statistics.median(of), spread(of), pairs=len(of))
    if not references:
        return result
    result.reference = best(references, lower_is_better)
    to = references[result.reference][:pairs]
    ratios = [a / b for a, b in zip(of, to)]
    result.to, result.to_spread = statistics.median(to), spread(to)
    result.ratio = statistics.median(ratios)
    result.pairs = len(ratios)
    if len(ratios) > 5:
        result.low, result.high = interval(ratios)
    return result
