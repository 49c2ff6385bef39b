"""How far clipping may still have moved the mean of an item, after corrections, from released numbers only."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

MOST = 1.0  # nobody doubts a mean by more than all of it
UNEVEN = 2.5  # rare items may lose so many times the share that all items together lose
SURE = 2.0  # standard deviations
CLEAR = 5.0  # standard deviations above zero
FARTHEST = 1e100  # whose square is a float: Python raises where NumPy says infinity
MOST_OF_ROWS = 0.4  # tails that seem so heavy that rows lose more are noise


@dataclass(frozen=True, kw_only=True)
class Clipping:
    """What a radius does to rows whose norms end as a power law does: rows longer than it lose what is beyond."""

    rows_above: float  # as a share of all rows
    lost_of_rows: float  # the share of their items that these lose, 1/(a + 1) for index a
    longer: float  # the radius over the norm of a typical row, whose items grow with its square

    @property
    def of_a_common_item(self) -> float:
        """The share lost of an item that all rows hold."""
        return self.rows_above * min(self.lost_of_rows, MOST_OF_ROWS)

    def losses(self, mean: FloatArray, *, longer: float = 1.0) -> FloatArray:
        """The share of every mean that a radius `longer` times as large is likely to take.

        Rare items may lose more than all items together; no item loses more than if all clipped rows held it.
        """
        of_each = min(self.lost_of_rows, MOST_OF_ROWS)
        index = 1.0 / of_each - 1.0
        of_rows = self.rows_above * of_each * longer**-index
        of_all = UNEVEN * of_rows * min(self.longer * longer, FARTHEST) ** 2
        return np.asarray(np.minimum(of_all, of_rows / np.maximum(mean, 1e-300)))


def left_out(mean: FloatArray, total: FloatArray, total_std: FloatArray) -> tuple[float, float]:
    """The sum that all means together lack, at least and at most, by the totals of their groups.

    Clipping only ever takes from totals, so that what they hold and the means do not is in items that noise has hidden.
    """
    noise = float(np.sqrt((total_std**2).sum()))
    lacking = float(total.sum() - mean.sum())
    return max(lacking - SURE * noise, 0.0), max(lacking, 0.0) + SURE * noise


def seen_losses(
    first: FloatArray,
    first_std: FloatArray,
    second: FloatArray,
    second_std: FloatArray,
    group: IntArray,
    *,
    less: float,
) -> FloatArray:
    """The share that the items of a group lost in the second look, by how much less, or more, the first look lost.

    Before any correction; `less` is the first look's loss over the second look's, as expected: near 1 nothing is seen.
    """
    apart = np.bincount(group, first - second)
    noise = np.sqrt(np.bincount(group, first_std**2 + second_std**2))
    known = np.maximum(np.bincount(group, second), noise)
    return np.asarray((np.hypot(apart, noise) / known / max(abs(1.0 - less), 1e-9))[group])


def gaps(
    noisy: FloatArray,
    noise_std: FloatArray,
    group: IntArray,
    total: FloatArray,
    total_std: FloatArray,
    *,
    likely: FloatArray,
    unseen: FloatArray,
) -> FloatArray:
    """The share by which the items of a group may be off together.

    Before it is seen that is about what clipping is `likely` to take of them; how far a group is from its own total
    says more, unless that is mostly noise, or was clipped itself, by the share `unseen`.
    """
    groups = len(total)
    summed = np.bincount(group, noisy, groups)
    noise = np.sqrt(total_std**2 + np.bincount(group, noise_std**2, groups))
    known = np.maximum(summed, noise)
    weight = np.maximum(noisy, noise_std)

    def of_groups(share: FloatArray) -> FloatArray:
        return np.maximum(np.bincount(group, weight * share, groups) / np.bincount(group, weight, groups), 1e-9)

    expected = of_groups(likely)
    apart, certain = (total - summed) / known, expected**2 / (expected**2 + (noise / known) ** 2)
    seen = np.hypot(apart * certain, expected * np.sqrt(1.0 - certain))
    return np.asarray(np.minimum(np.hypot(seen, of_groups(unseen)), MOST)[group])


def unevenness(
    first: FloatArray,
    first_std: FloatArray,
    second: FloatArray,
    second_std: FloatArray,
    group: IntArray,
) -> FloatArray:
    """The share by which the items of a group are off each for itself, root mean square.

    Two looks clip different rows, so where clipping treats items unevenly they differ by more than their noise does.
    """
    unit = max(float(first_std.max()), float(second_std.max()))  # fourth powers of other units are beyond floats
    first, second, variance = first / unit, second / unit, (first_std / unit) ** 2 + (second_std / unit) ** 2
    # groups were made by the first look: of unclear items its noise decided which are in them
    clear = (second > CLEAR * np.sqrt(variance)).astype(np.float64)
    surplus = np.bincount(group, clear * ((first - second) ** 2 - variance))
    by_chance = np.sqrt(2.0 * np.bincount(group, clear * variance**2))
    squares = np.maximum(np.bincount(group, clear * second**2), 1e-300)
    return np.asarray(np.minimum(np.sqrt(np.maximum(surplus - by_chance, 0.0) / squares), MOST)[group])
