"""What a design will find and how large its error will be, from public numbers and assumed spreads alone."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plandp.planner.split import center_need
from plandp.terms.design import Design
from plandp.theory.box import box_spread
from plandp.theory.forecast import Expected, expect_box, expect_shaped, expect_unshaped
from plandp.theory.stretch import optimal_stretch

FloatArray = NDArray[np.float64]

Finding = Literal["found", "doubtful", "not found", "known", "not needed"]
ROUNDING = 1e-6  # shares are rounded to 2^-30 of ρ


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """Whether centres and spreads will be found, and the errors to expect if rows are about Gaussian."""

    centers: Finding
    spreads: Finding
    expected: Expected

    @property
    def works(self) -> bool:
        """Nothing that the method needs is missing or in doubt."""
        return not {self.centers, self.spreads} & {"doubtful", "not found"}


def predict_plan(spread: FloatArray, design: Design) -> Prediction:
    """What `plan_design` leads to; `spread` in units of error_scale."""
    centers, spreads = _centers(design), _spreads(design)
    if centers == "not found":
        expected = expect_box(design)  # rows may lie anywhere around the middle of the bounds
    elif spreads in ("known", "found"):
        expected = expect_shaped(spread, design)
    else:
        stretch = optimal_stretch(box_spread(design.columns), design.error_norm)
        expected = expect_unshaped(spread, stretch, design)
    return Prediction(centers=centers, spreads=spreads, expected=expected)


def predict_unscaled(spread: FloatArray, design: Design) -> Prediction:
    """What `unscaled_design` leads to; `spread` in units of error_scale."""
    centers = _centers(design)
    reach = box_spread(design.columns) if centers == "not found" else spread
    return Prediction(
        centers=centers,
        spreads="not needed",
        expected=expect_unshaped(reach, np.ones(design.d), design),
    )


def predict_gaussian(_spread: FloatArray, design: Design) -> Prediction:
    """What `gaussian_design` leads to, whatever the spreads are."""
    return Prediction(centers="not needed", spreads="not needed", expected=expect_box(design))


def _centers(design: Design) -> Finding:
    if not design.split.center:
        return "not found"
    reached = design.sample_size * np.sqrt(2.0 * float(design.split.center) / design.d)
    return "found" if reached >= (1.0 - ROUNDING) * center_need(design.columns) else "doubtful"


def _spreads(design: Design) -> Finding:
    if design.columns.spread is not None:
        return "known"
    if design.d == 1:
        return "not needed"
    return "found" if design.split.spread else "not found"
