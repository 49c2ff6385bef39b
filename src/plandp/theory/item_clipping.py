"""How many sparse rows to clip: the noise saved against the items lost, in the norm of the error.

A row of norm N > C loses the share 1 - C/N of its items.  With `worth` = what one unit of C costs in noise over what
one item lost costs in bias, per unit of norm, the best radius clips k rows with k·C·(tail factor) = worth.
"""

import math

FIRST_BIAS = 0.9  # of the items lost, the part that no correction brings back: before anything is known …
BIAS = 0.2  # … and when items of like popularity are corrected together
VALUES_BIAS = 0.3  # where items have values: less of it is of like popularity …
FEW_VALUES = 3.0  # … and all of it is left of so few of them: the totals of their groups are as few, and noisier
VALUES_LONG = 1.5  # typical norms: a row beyond is long by large values, and loses no more items per unit of norm
HEAVIEST = 4.0  # tails that seem heavier than that are noise
MOST_CLIPPED = 0.3  # of the rows: no correction is trusted beyond
SHALLOWEST = 2.25  # a tail index of 2 or less has no second moment


def tail_index(rows_above: float, rows_beyond: float, *, ratio: float) -> float:
    """The index a of the power law by which `rows_beyond` of `rows_above` exceed `ratio` times the radius."""
    return math.log(max(rows_above / max(rows_beyond, 1.0), 1.05)) / math.log(ratio)


def tail_factor(index: float, *, error_norm: float) -> float:
    """How much more rows above the radius lose than rows at it.

    For a power law of index a: E[N]/C = a/(a-1), and (E[N²]/C² - E[N]/C)^(1-1/p) for what p > 1 forgives.
    """
    longer = min(index / (index - 1.0), HEAVIEST) if index > 1.0 else HEAVIEST
    bounded = max(index, SHALLOWEST)
    lost = bounded / ((bounded - 1.0) * (bounded - 2.0))
    return float(lost ** (1.0 - 1.0 / error_norm) * longer ** (1.0 / error_norm))


def rows_to_clip(worth: float, loss: float, *, rows: float, least: float) -> float:
    """How many of the rows to clip, each losing `loss` per unit of norm, at least what can be told from noise."""
    return min(max(worth / loss, least, 1.0), MOST_CLIPPED * rows)


def left_bias(d: int, *, binary: bool) -> float:
    """Of the items lost by the last clipping, the part that no correction by groups brings back."""
    return BIAS if binary else min(max(VALUES_BIAS, FEW_VALUES / d), 1.0)


def lost_share(rows_above: float, longer: float, index: float, *, n: int) -> float:
    """The share of all items that clipping takes: rows above the radius, `longer` times the typical norm, hold its
    square in items of a typical row, and lose 1 - C/N of them, 1/(a+1) on average.
    """
    return rows_above / n * longer**2 / (index + 1.0)
