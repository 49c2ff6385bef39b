"""How many sparse rows to clip: the noise saved against the items lost, in the norm of the error.

A row of norm N > C loses the share 1 - C/N of its items.  With `worth` = what one unit of C costs in noise over what
one item lost costs in bias, per unit of norm, the best radius clips k rows with k·C·(tail factor) = worth.
"""

import math

FIRST_BIAS = 0.9  # of the items lost, the part that no correction brings back: before anything is known …
BIAS = 0.2  # … and when items of like popularity are corrected together
VALUES_BIAS = 0.3  # where items have values: less of it is of like popularity
VALUES_LONG = 1.5  # typical norms: a row beyond is long by large values, and loses no more items per unit of norm
HEAVIEST = 4.0  # tails that seem heavier than that are noise
MOST_CLIPPED = 0.3  # of the rows: no correction is trusted beyond
SHALLOWEST = 2.25  # a tail index of 2 or less has no second moment


def tail_factor(rows_above: float, rows_beyond: float, *, ratio: float, error_norm: float) -> float:
    """How much more rows above the radius lose than rows at it, if `rows_beyond` of them exceed `ratio` times it.

    For a power law of index a: E[N]/C = a/(a-1), and (E[N²]/C² - E[N]/C)^(1-1/p) for what p > 1 forgives.
    """
    index = math.log(max(rows_above / max(rows_beyond, 1.0), 1.05)) / math.log(ratio)
    longer = min(index / (index - 1.0), HEAVIEST) if index > 1.0 else HEAVIEST
    bounded = max(index, SHALLOWEST)
    lost = bounded / ((bounded - 1.0) * (bounded - 2.0))
    return float(lost ** (1.0 - 1.0 / error_norm) * longer ** (1.0 / error_norm))


def rows_to_clip(worth: float, loss: float, *, n: int, least: float) -> float:
    """The number of rows to clip, each losing `loss` per unit of norm, at least what can be told from noise."""
    return min(max(worth / loss, least, 1.0), MOST_CLIPPED * n)
