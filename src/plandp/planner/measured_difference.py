"""Whether medians of a few measured errors differ by more than chance would make them."""

import math
from collections.abc import Sequence
from statistics import median, stdev

MEDIAN = math.pi / 2.0  # variance of a median over that of a mean, of Gaussian numbers
SMALLEST = 1e-300  # error: zero has no logarithm


def clearly_above(errors: Sequence[float], others: Sequence[float], *, times: float, chance: float) -> bool:
    """Whether the median of `errors` is over `times` that of `others`, said wrongly with this `chance` at most.

    Of logarithms, since errors vary in proportion to their size, by Student's t with Welch's degrees of freedom: few
    runs need a large difference, and a single one tells nothing.
    """
    from scipy.special import stdtrit  # here, since importing SciPy takes longer than importing plandp

    if min(len(errors), len(others)) < 2:
        return False
    logs = [[math.log(max(error, SMALLEST)) for error in runs] for runs in (errors, others)]
    difference = median(logs[0]) - median(logs[1]) - math.log(times)
    variances = [MEDIAN * stdev(runs) ** 2 / len(runs) for runs in logs]
    variance = sum(variances)
    if not variance:
        return difference > 0.0
    parts = [(part / variance) ** 2 / (len(runs) - 1) for part, runs in zip(variances, logs, strict=True)]
    return difference > -float(stdtrit(1.0 / sum(parts), chance)) * math.sqrt(variance)
