"""How far clipping may have moved the mean of every item, from two looks and group totals.  Post-processing."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plandp.steps.sparse_estimate import NoisyMeans
from plandp.theory.item_doubts import Clipping, gaps, seen_losses, unevenness

FloatArray = NDArray[np.float64]

MORE = 3.0  # one look may lose so many times what is expected of it beside the other


@dataclass(frozen=True, kw_only=True, eq=False)
class Look:
    """Means in units of error_scale, as they were clipped and as group totals corrected them."""

    clipped: NoisyMeans
    corrected: NoisyMeans
    clipping: Clipping


def clipping_doubt(
    first: Look,
    second: Look,
    group: NDArray[np.int64],
    totals: NoisyMeans,
    *,
    of_second: FloatArray,
    share: FloatArray,
    longest: float,
) -> FloatArray:
    """The share of every mean by which clipping may still have moved it, root mean square.

    `of_second` is the weight of the second look in the mean, `share` the part of all rows that would hold an item in
    full to have its mean; rows with up to `longest` times the items of a clipped row are in full in the totals.
    """
    one, two = first.clipping.of_a_common_item, second.clipping.of_a_common_item
    less = min(MORE * min(one, two) / max(one, two, 1e-300), 1.0)  # what one look loses of what the other does
    of_one, of_two = (less, 1.0) if one <= two else (1.0, less)
    seen = seen_losses(*first.clipped.both, *second.clipped.both, group, less=less)
    together = gaps(
        *second.corrected.both,  # the first look made the groups: what its noise adds to them is not by chance
        group,
        *totals.both,
        likely=np.minimum(second.clipping.losses(share), of_two * seen),
        unseen=np.minimum(second.clipping.losses(share, longer=math.sqrt(longest)), of_two * seen),
    )
    apart = unevenness(*first.corrected.both, *second.corrected.both, group)
    doubt = np.hypot(together, of_two * apart)
    alone = less * doubt if one <= two else np.hypot(np.minimum(first.clipping.losses(share), of_one * seen), apart)
    return np.asarray(of_second * doubt + (1.0 - of_second) * alone)
