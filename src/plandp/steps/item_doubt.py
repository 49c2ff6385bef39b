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
    one, two = first.clipped, second.clipped
    ratio = first.clipping.of_a_common_item / max(second.clipping.of_a_common_item, 1e-300)
    less = min(MORE * ratio, 1.0) if ratio < 1.0 else max(ratio / MORE, 1.0)
    seen = seen_losses(one.mean, one.noise_std, two.mean, two.noise_std, group, less=less)
    together = gaps(
        second.corrected.mean,  # the first look made the groups: what its noise adds to them is not by chance
        second.corrected.noise_std,
        group,
        totals.mean,
        totals.noise_std,
        likely=np.minimum(second.clipping.losses(share), seen),
        unseen=np.minimum(second.clipping.losses(share, longer=math.sqrt(longest)), seen),
    )
    one, two = first.corrected, second.corrected
    apart = unevenness(one.mean, one.noise_std, two.mean, two.noise_std, group)
    return np.asarray(np.hypot(together, apart) * (of_second + (1.0 - of_second) * less))
