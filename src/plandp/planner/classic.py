"""Budget and future of plan-classic: ρ is divided as the paper says, from public numbers alone."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.planner.prediction import Finding, Findings
from plandp.planner.split import lattice_points
from plandp.terms.columns import Columns
from plandp.terms.design import Design, Split
from plandp.theory.box import box_spread
from plandp.theory.clipping import gaussian_radius
from plandp.theory.forecast import Expected
from plandp.theory.stretch import optimal_stretch

FloatArray = NDArray[np.float64]

ROUGH = Fraction(1, 4)  # ρ₁, of ρ: "25% of the total privacy budget"
CENTER = Fraction(1, 4)  # of ρ₁; the rest of it is for variances (Listing 1, lines 3–4)
RADIUS = Fraction(1, 4)  # ρ₂, of ρ - ρ₁
MOST_RANK_ERROR = 0.1  # of the numbers: the paper's advice ("Choosing valid settings")
HOPELESS_RANK_ERROR = 0.5  # then a median can be any value


def classic_design(
    *,
    n: int,
    columns: Columns,
    rho: Fraction,
    error_norm: float,
    centers: bool = True,
    spreads: bool = True,
) -> Design:
    """ρ₁ = ρ/4, of it ¼ for centres and ¾ for spreads; ρ₂ = ¼(ρ - ρ₁) for the radius; ρ₃, the rest, for the noise.

    What has nothing to pay for, `spreads` that are given or not estimated, `centers` that are 0, leaves its share of
    ρ₁ to the other; where there is neither, ρ₁ = 0.
    """
    spreads = spreads and columns.spread is None
    rough = ROUGH * rho if centers or spreads else Fraction(0)
    center = rough * (CENTER if spreads else 1) if centers else Fraction(0)
    radius = RADIUS * (rho - rough)
    split = Split(
        center=center,
        spread_bound=Fraction(0),
        spread=rough - center,
        radius=radius,
        sum=rho - rough - radius,
    )
    return Design(
        n=n,
        columns=columns,
        error_norm=error_norm,
        split=split,
        sample_size=n,
        center_stride=1,
        center_rounds=1,
        lattice_points=lattice_points(n, float(split.sum)),
    )


@dataclass(frozen=True, kw_only=True)
class ClassicFuture:
    """What a design of plan-classic finds, and its error on Gaussian rows: for `Predictor`."""

    rank_errors: Callable[[Design], dict[str, float]]  # of centres and spreads, over the numbers that are ranked
    regularised: Callable[[FloatArray], FloatArray]
    rows_to_clip: Callable[[Design], float]

    def find(self, design: Design) -> Findings:
        """Centres and spreads are found where the rank error is at most a tenth of the numbers."""
        errors = self.rank_errors(design)
        spreads: Finding = "not needed"
        if design.columns.spread is not None:
            spreads = "known"
        elif design.split.spread:
            spreads = _found(errors.get("spreads", 0.0))
        return Findings(
            centers=_found(errors.get("centres", 0.0)),
            spreads=spreads,
            radius="found",
            rank_error=max(errors.values(), default=None),
        )

    def expect(self, spread: FloatArray, design: Design) -> Expected:
        """Noise of 2C²/ρ₃, C the norm that k Gaussian rows exceed; rows lie anywhere where ranks are hopeless."""
        widest = box_spread(design.columns)
        hopeless = max(self.rank_errors(design).values(), default=0.0) > HOPELESS_RANK_ERROR
        σ = widest if hopeless else np.minimum(spread, widest)
        s = optimal_stretch(self.regularised(σ), design.error_norm)
        C, _ = gaussian_radius(σ / s, self.rows_to_clip(design) / design.n)
        noise = np.asarray(C * np.sqrt(2.0 / float(design.split.sum)) / design.n * s)
        return Expected(noise_std=noise, error_std=noise)


@dataclass(frozen=True, kw_only=True)
class ClassicItemFuture:
    """The same of items that are there or not: no centre is looked for."""

    spreads_are_told: Callable[[Design], bool]
    noise: Callable[[FloatArray, Design], FloatArray]

    def find(self, design: Design) -> Findings:
        """Spreads are found where the noise of a share is below the least variance that is reckoned with."""
        spreads: Finding = "not needed"
        if design.split.spread:
            spreads = "found" if self.spreads_are_told(design) else "doubtful"
        return Findings(centers="not needed", spreads=spreads, radius="found")

    def expect(self, popularity: FloatArray, design: Design) -> Expected:
        """Noise of 2C²/ρ₃, C the norm that k rows of independent items exceed."""
        noise = self.noise(popularity, design)
        return Expected(noise_std=noise, error_std=noise)


def _found(rank_error: float) -> Finding:
    return "found" if rank_error <= MOST_RANK_ERROR else "doubtful"
