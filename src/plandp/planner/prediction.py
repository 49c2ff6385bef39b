"""What a design will find and how large its error will be, from public numbers and assumed spreads alone."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plandp.planner.split import center_need
from plandp.terms.design import Design
from plandp.theory.box import box_spread
from plandp.theory.coinpress import assumed_spread, ball_is_small, coinpress_balls, rows_are_cut_off
from plandp.theory.forecast import Expected, expect_box, expect_shaped, expect_unshaped
from plandp.theory.iome import Reach, beyond_is_told, iome_item_noise, iome_noise, medians_are_told
from plandp.theory.stretch import Stretch, mahalanobis_stretch, optimal_stretch
from plandp.theory.wide_search import radius_is_told

FloatArray = NDArray[np.float64]

Finding = Literal["found", "doubtful", "not found", "known", "not needed"]
ROUNDING = 1e-6  # shares are rounded to 2^-30 of ρ


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Whether a design has the budget for finding centres, spreads and the clipping radius."""

    centers: Finding
    spreads: Finding
    radius: Finding
    rank_error: float | None = None  # the largest, over the numbers that are ranked, where a method reckons with it

    @property
    def complete(self) -> bool:
        """Nothing that the method needs is missing or in doubt."""
        return not {self.centers, self.spreads, self.radius} & {"doubtful", "not found"}


@dataclass(frozen=True, kw_only=True)
class Predictor:
    """A method's future: what its designs find, and the error to expect of them for spreads in error_scale units.

    Of items that are there or not `expect` takes their popularity, the share of the rows that hold each of them.
    `premise` is what is taken for true where no spreads are given, besides rows about Gaussian; `contradiction` says
    why it is not for these spreads, so that what is expected does not hold, or None.
    """

    find: Callable[[Design], Findings]
    expect: Callable[[FloatArray, Design], Expected]
    premise: str | None = None
    contradiction: Callable[[FloatArray, Design], str | None] | None = None


def _find_for_plan(design: Design) -> Findings:
    spreads = _spreads(design)
    radius = "found" if design.split.center and spreads in ("known", "found") else _wide_radius(design)
    return Findings(centers=_centers(design), spreads=spreads, radius=radius)


def _expect_of_plan(spread: FloatArray, design: Design, *, stretch: Stretch = optimal_stretch) -> Expected:
    findings = _find_for_plan(design)
    if findings.centers == "not found":
        return expect_box(design)  # rows may lie anywhere around the middle of the bounds
    if findings.spreads in ("known", "found"):
        return expect_shaped(spread, design, stretch=stretch)
    return expect_unshaped(spread, optimal_stretch(box_spread(design.columns), design.error_norm), design)


def _find_for_unscaled(design: Design) -> Findings:
    return Findings(centers=_centers(design), spreads="not needed", radius=_wide_radius(design))


def _expect_of_unscaled(spread: FloatArray, design: Design) -> Expected:
    reach = spread if design.split.center else box_spread(design.columns)
    return expect_unshaped(reach, np.ones(design.d), design)


def _find_for_gaussian(_design: Design) -> Findings:
    return Findings(centers="not needed", spreads="not needed", radius="not needed")


def _expect_of_gaussian(_spread: FloatArray, design: Design) -> Expected:
    return expect_box(design)


def _find_for_iome(design: Design, *, offset: float) -> Findings:
    return Findings(
        centers="found" if medians_are_told(design) else "doubtful",
        spreads="not needed",
        radius="found" if beyond_is_told(design, offset) else "doubtful",
    )


def _expect_of_iome(spread: FloatArray, design: Design, *, offset: float, reach: Reach) -> Expected:
    within = np.minimum(spread, box_spread(design.columns))
    noise = np.full(design.d, iome_noise(within, design, offset=offset, reach=reach))
    return Expected(noise_std=noise, error_std=noise)


def predict_iome(*, offset: float, reach: Reach) -> Predictor:
    """The future of IOME, if its medians are found."""
    return Predictor(
        find=partial(_find_for_iome, offset=offset), expect=partial(_expect_of_iome, offset=offset, reach=reach)
    )


def _expect_of_iome_items(popularity: FloatArray, design: Design, *, offset: float) -> Expected:
    noise = np.full(design.d, iome_item_noise(popularity, design, offset=offset))
    return Expected(noise_std=noise, error_std=noise)


def predict_iome_items(*, offset: float) -> Predictor:
    """The same for independent items."""
    return Predictor(find=partial(_find_for_iome, offset=offset), expect=partial(_expect_of_iome_items, offset=offset))


def _find_for_coinpress(design: Design, *, spread_share: float) -> Findings:
    balls = coinpress_balls(assumed_spread(design.columns, spread_share), design)
    return Findings(
        centers="found" if ball_is_small(balls, design.d) else "doubtful",
        spreads="not needed" if design.columns.spread is None else "known",
        radius="not needed",
    )


def _expect_of_coinpress(_spread: FloatArray, design: Design, *, spread_share: float) -> Expected:
    taken = assumed_spread(design.columns, spread_share)
    noise = coinpress_balls(taken, design)[-1].noise_std * taken
    return Expected(noise_std=noise, error_std=noise)


def _contradiction_of_coinpress(spread: FloatArray, design: Design, *, spread_share: float) -> str | None:
    taken = assumed_spread(design.columns, spread_share)
    if not rows_are_cut_off(spread, taken):
        return None
    times = f"up to {float((spread / taken).max()):.2g} times those that it takes for true"
    return f"the spreads are {times}: rows are cut off, and the prediction does not hold"


def predict_coinpress(*, spread_share: float) -> Predictor:
    """The future of CoinPress: its balls, and so its noise, are public."""
    return Predictor(
        find=partial(_find_for_coinpress, spread_share=spread_share),
        expect=partial(_expect_of_coinpress, spread_share=spread_share),
        premise=f"takes spreads of {spread_share:g} of the widths of the bounds for true; larger ones are cut off",
        contradiction=partial(_contradiction_of_coinpress, spread_share=spread_share),
    )


def _centers(design: Design) -> Finding:
    if not design.split.center:
        return "not found"
    reached = design.center_rows * np.sqrt(2.0 * float(design.split.center) / design.d)
    return "found" if reached >= (1.0 - ROUNDING) * center_need(design.columns) else "doubtful"


def _spreads(design: Design) -> Finding:
    if design.columns.spread is not None:
        return "known"
    if design.d == 1:
        return "not needed"
    return "found" if design.split.spread else "not found"


def _wide_radius(design: Design) -> Finding:
    return "found" if radius_is_told(design) else "doubtful"


PREDICT_PLAN = Predictor(find=_find_for_plan, expect=_expect_of_plan)
PREDICT_MAHALANOBIS = Predictor(find=_find_for_plan, expect=partial(_expect_of_plan, stretch=mahalanobis_stretch))
PREDICT_UNSCALED = Predictor(find=_find_for_unscaled, expect=_expect_of_unscaled)
PREDICT_GAUSSIAN = Predictor(find=_find_for_gaussian, expect=_expect_of_gaussian)
