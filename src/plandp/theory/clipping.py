"""How many rows a clipping radius should clip: clipping shortens them (bias), a wider radius adds noise.

With A = √(2·d_eff/ρ), noise is C·A and the bias at most the sum of what is cut off the rows above C.  When all of it
points one way, noise² + bias² is least at k ≈ A·√(C/ē) rows, ē the mean excess; when it cancels, more can be clipped.
"""

import numpy as np
from numpy.typing import NDArray

from plandp.terms.design import Design
from plandp.theory.stretch import effective_dimension

FloatArray = NDArray[np.float64]

ONE_SIDED = 5.3  # rows per A to clip where the tail is heavier than a Gaussian's: k ≈ A·√(C/ē) with ē ≈ .04
BALANCED = 0.8  # where it is no heavier: rows that all point one way would give 0.8 times as much bias as noise
AS_GAUSSIAN, HEAVIER = 1.08, 1.18  # radius over the Gaussian prediction: from "no heavier" to "heavier"
MOST_CLIPPED = 0.1  # of the rows
SMALLEST_SHARE = 1e-6  # of the rows: noise may have left less


def rows_to_clip(radius: float, spread: FloatArray, stretch: FloatArray, design: Design) -> float:
    """The number of rows to clip, given the `radius` that `one_sided_rows` of them exceed."""
    one_sided = one_sided_rows(stretch, design)
    gaussian, excess = gaussian_radius(spread / stretch, one_sided / design.n)
    balanced = BALANCED * noise_in_radii(stretch, design) / excess
    balanced = min(max(balanced, one_sided), MOST_CLIPPED * design.n)
    return float(balanced * (one_sided / balanced) ** _heavier(radius / gaussian))


def heaviness(radius: float, norm_spread: FloatArray, share: float) -> float:
    """From 0, if a `share` of rows exceed the radius as of Gaussian ones, to 1, if the tail is heavier."""
    return _heavier(radius / gaussian_radius(norm_spread, min(max(share, SMALLEST_SHARE), 1.0))[0])


def _heavier(times_gaussian: float) -> float:
    return float(np.clip(np.log(times_gaussian / AS_GAUSSIAN) / np.log(HEAVIER / AS_GAUSSIAN), 0.0, 1.0))


def one_sided_rows(stretch: FloatArray, design: Design) -> float:
    """The number of rows to clip when nothing is known of the tail but that it may point one way."""
    a = noise_in_radii(stretch, design)
    return float(min(ONE_SIDED * a, MOST_CLIPPED * design.n))


def noise_in_radii(stretch: FloatArray, design: Design) -> float:
    """A = √(2·d_eff/ρ): the noise of the sum, in rows of the length of the radius."""
    return float(np.sqrt(2.0 * effective_dimension(stretch, design.error_norm) / float(design.split.sum)))


def gaussian_radius(norm_spread: FloatArray, share: float) -> tuple[float, float]:
    """The norm that a `share` of Gaussian rows exceed, and their mean excess over it, relative to it.

    ‖y‖² is a sum of weighted χ² variables, matched in three moments by a shifted χ² (Imhof 1961).
    """
    from scipy.special import gammainccinv  # here, since importing SciPy takes longer than importing plandp

    if norm_spread.min() == norm_spread.max():
        first = second = third = float(len(norm_spread))
    else:
        weights = (norm_spread / norm_spread.max()) ** 2
        first, second, third = (float((weights**power).sum()) for power in (1, 2, 3))
    freedom = second**3 / third**2
    shift, stretch = first - freedom * third / second, third / second
    tails = share * np.array([1.0, 0.75, 0.5, 0.25, 0.1, 0.03])  # quadrature of the excess over the tail
    norm = np.sqrt(np.maximum(shift + stretch * 2.0 * gammainccinv(freedom / 2.0, tails), 1e-300))
    excess = float(np.trapezoid(norm[::-1] - norm[0], tails[::-1])) / share + 0.03 * float(norm[-1] - norm[0])
    return float(norm[0] * norm_spread.max()), excess / float(norm[0])
