"""What every estimator hands back: released numbers only."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plandp.mechanisms.clipped_sum import NoisySum
from plandp.terms.design import Design

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """An estimated mean in the units of the data; every field is covered by the payments at the door."""

    mean: FloatArray
    noise_std: FloatArray
    center: FloatArray
    spread: FloatArray | None
    radius: float
    warnings: tuple[str, ...] = ()
    unrefined: FloatArray | None = None  # before post-processing other than linear; None: `mean` itself
    error_std: FloatArray | None = None  # root mean square error to expect of `mean`; None: noise_std
    bounds_alone: bool = False  # the noise is made for the whole box, and nothing is clipped further
    error: float | None = None  # ℓp error to expect after post-processing; None: that of the noise

    def warning(self, *warnings: str) -> "Estimate":
        """The same estimate with these warnings."""
        return replace(self, warnings=warnings)


def unstretched(
    total: NoisySum,
    center: FloatArray,
    spread: FloatArray | None,
    stretch: FloatArray,
    radius: float,
    design: Design,
    *,
    gain: FloatArray | float = 1.0,
) -> Estimate:
    """Line 8, second half: divide by n, undo the stretch, go back to the centre, in the units of the data.

    `gain` undoes what clipping did to each coordinate.
    """
    unit = design.columns.error_scale * stretch * gain / design.n
    return Estimate(
        mean=np.asarray(center + total.total * unit),
        noise_std=np.asarray(total.noise_std * unit),
        center=center,
        spread=None if spread is None else spread * design.columns.error_scale,
        radius=radius,
    )
