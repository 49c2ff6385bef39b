"""What every estimator hands back: released numbers only."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """An estimated mean in the units of the data; every field is covered by the payments at the door."""

    mean: FloatArray
    noise_std: FloatArray
    center: FloatArray
    spread: FloatArray | None
    radius: float
    warnings: tuple[str, ...]
