"""How finely centres are searched when spreads may be small (paper, "Approaches for small variance")."""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plandp.classic.noised_rows import NoisedRows
from plandp.data.rows import Rows
from plandp.errors import ArgumentError
from plandp.noise.meter import MeteredNoise
from plandp.terms.columns import FINEST_SPREAD_SHARE
from plandp.terms.design import Design

FloatArray = NDArray[np.float64]

_LARGEST_UNIT = 2.0**900  # of noise: bounds that are widened by a few of them are still floats


class SmallSpread(Protocol):
    """One of the paper's approaches: what is done to rows before, and the finest spread that searches can tell."""

    @property
    def needs_spread(self) -> bool:
        """Whether spreads are found before centres."""
        ...

    def prepared(self, rows: Rows, design: Design, noise: MeteredNoise) -> tuple[Rows, Design]:
        """The rows and public facts that the algorithm sees; public coins only."""
        ...

    def finest(self, spread: FloatArray | None, design: Design) -> FloatArray:
        """τ of every column, in the units of the data: T = log2(M/τ) halvings leave an error of at most τ.

        From public numbers and, where it `needs_spread`, from released ones once they are there.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class SmallestThatMatters:
    """Half of the public `smallest_spread` of `plandp.mean` is told apart, as everywhere in plandp."""

    needs_spread = False

    def prepared(self, rows: Rows, design: Design, noise: MeteredNoise) -> tuple[Rows, Design]:
        """Nothing is changed."""
        return rows, design

    def finest(self, spread: FloatArray | None, design: Design) -> FloatArray:
        """A quarter of the smallest spread: cells are twice as wide."""
        return design.columns.smallest_spread / 4.0


@dataclass(frozen=True, kw_only=True)
class FinerSearch:
    """Steps so many that the error is at most τ: T = log2(M/τ).  τ = 1 is the paper's T = log2(M)."""

    tau: float
    needs_spread = False

    def __post_init__(self) -> None:
        _check_positive("tau", self.tau)

    def prepared(self, rows: Rows, design: Design, noise: MeteredNoise) -> tuple[Rows, Design]:
        """Nothing is changed."""
        return rows, design

    def finest(self, spread: FloatArray | None, design: Design) -> FloatArray:
        """τ in every column, if float64 can tell it."""
        return np.maximum(self.tau, FINEST_SPREAD_SHARE * design.columns.width)


@dataclass(frozen=True, kw_only=True)
class RescaledBySmallest:
    """All values over the smallest σ̂, and back: then no spread is below 1, which T = log2(M) is made for.

    σ̂ is given or released before the centres.  All else in the algorithm scales with the data, so rescaling is a search
    for centres in steps of the smallest σ̂.  Spreads themselves are searched in steps of `smallest_spread`.
    """

    needs_spread = True

    def prepared(self, rows: Rows, design: Design, noise: MeteredNoise) -> tuple[Rows, Design]:
        """Nothing is changed."""
        return rows, design

    def finest(self, spread: FloatArray | None, design: Design) -> FloatArray:
        """The smallest spread, in units of error_scale, in every column."""
        columns = design.columns
        if spread is None:
            return columns.smallest_spread / 4.0
        return np.maximum(float(spread.min()) * columns.error_scale, FINEST_SPREAD_SHARE * columns.width)


@dataclass(frozen=True, kw_only=True)
class UnitNoise:
    """Independent public N(0, scale²) on every value, so that no spread is below `scale`; the paper's scale is 1.

    The noise is drawn by public coins for every row number and column and is no part of the privacy; n·d float64 are
    held for it.  Its mean, about scale/√n a column, stays in the estimate, as in the paper.
    """

    scale: float = 1.0
    needs_spread = False

    def __post_init__(self) -> None:
        _check_positive("scale", self.scale)

    def prepared(self, rows: Rows, design: Design, noise: MeteredNoise) -> tuple[Rows, Design]:
        """Rows with the noise added, and bounds wide enough for it."""
        if not np.all(self.scale * design.columns.error_scale <= _LARGEST_UNIT):
            raise ArgumentError(
                "scale", "makes noise that is too large for float64; use a smaller scale or other units"
            )
        drawn = noise.public_normals(rows.n * rows.d).reshape(rows.n, rows.d)
        drawn *= self.scale * design.columns.error_scale
        reach = np.abs(drawn).max(axis=0)
        wider = replace(design.columns, low=design.columns.low - reach, high=design.columns.high + reach)
        return NoisedRows(rows=rows, noise=drawn, columns=design.columns), replace(design, columns=wider)

    def finest(self, spread: FloatArray | None, design: Design) -> FloatArray:
        """The spread of the noise."""
        columns = design.columns
        return np.maximum(self.scale * columns.error_scale, FINEST_SPREAD_SHARE * columns.width)


def _check_positive(argument: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, float | int) or not 0.0 < value < 2.0**500:
        raise ArgumentError(argument, "must be a number above 0")
