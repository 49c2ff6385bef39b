"""What a release of items will find, and its error: by PLAN's two looks at them, or by another method's predictor."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from plandp.planner.prediction import Findings, Predictor
from plandp.planner.sparse_prediction import expect_sparse, radius_is_told
from plandp.planner.sparse_split import sparse_design
from plandp.terms.choices import REFINEMENTS
from plandp.terms.columns import Columns
from plandp.terms.design import Design, Split
from plandp.terms.sparse_design import SparseSplit

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemNumbers:
    """What is public about a release of items, and the means and second moments that they are assumed to have."""

    n: int
    columns: Columns
    rho: Fraction
    error_norm: float
    mean: FloatArray
    second_moment: FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemProspect:
    """What one design comes to; standard deviations per item are in the units of the data."""

    split: Split | SparseSplit
    means: Fraction  # of ρ, for the noise of the means
    findings: Findings
    noise_std: FloatArray
    error_std: FloatArray
    shrunk: bool  # towards zero, so that it errs no more than zeros do


ItemFuture = Callable[[ItemNumbers], ItemProspect]


def plan_prospect(asked: ItemNumbers, *, binary: bool) -> ItemProspect:
    """PLAN: two looks, combined and shrunk, all of its post-processing switched on."""
    design = sparse_design(
        n=asked.n,
        columns=asked.columns,
        rho=asked.rho,
        error_norm=asked.error_norm,
        binary=binary,
        refine=frozenset(REFINEMENTS),
    )
    expected = expect_sparse(asked.mean, asked.second_moment, design)
    told = radius_is_told(design)
    return ItemProspect(
        split=design.split,
        means=design.split.first_sum + design.split.sum,
        findings=Findings(centers="not needed", spreads="found", radius="found" if told else "doubtful"),
        noise_std=expected.noise_std,
        error_std=expected.error_std,
        shrunk=True,
    )


def other_prospect(asked: ItemNumbers, *, plan: Callable[..., Design], predictor: Predictor) -> ItemProspect:
    """Another method, of items that are there or not: their popularity is their mean."""
    design = plan(n=asked.n, columns=asked.columns, rho=asked.rho, error_norm=asked.error_norm)
    expected, unit = predictor.expect(asked.mean, design), asked.columns.error_scale
    return ItemProspect(
        split=design.split,
        means=design.split.sum,
        findings=predictor.find(design),
        noise_std=expected.noise_std * unit,
        error_std=expected.error_std * unit,
        shrunk=False,
    )
