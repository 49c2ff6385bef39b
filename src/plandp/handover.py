"""From an estimate to a release: the receipt, the forecast and nothing that is not covered by them."""

import platform
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from plandp.data.rows import RowSource
from plandp.data.sparse_rows import SparseRows
from plandp.noise.meter import MeteredNoise
from plandp.steps.estimate import Estimate
from plandp.terms.choices import REFINEMENTS
from plandp.terms.columns import Columns
from plandp.terms.receipt import Receipt
from plandp.terms.release import Forecast, MeanRelease
from plandp.theory.stretch import noise_error

BOX_COVERS = "the noise of the final sum, made for the bounds alone; not missing values or sampling error"
ITEMS_COVERS = "the noise of the final sum, and clipping as far as released sums tell; not sampling error"
SHRUNK_COVERS = "the noise after shrinking, if means are spread as all of them together suggest; clipping bias roughly"


def release_sparse(
    rows: SparseRows,
    door: MeteredNoise,
    rho: Fraction,
    *,
    kind: str,
    public: Columns,
    error_norm: float,
    refine: frozenset[str],
    warnings: tuple[str, ...],
    privacy_unit: str = "row",
    neighbours: str = "replace one row",
    delta: float | None = None,
) -> MeanRelease:
    """Release the mean of sparse rows; kind is "binary" or "nonnegative", and `public` was read for that kind.

    Guarantee: rho-zCDP when one row is replaced.  Proof: docs/proofs/sparse_plan_mean.md.
    """
    from plandp.planner.sparse_split import sparse_design  # here, since tables of numbers need none of it
    from plandp.sparse_algorithm import sparse_plan_mean

    binary = kind == "binary"
    design = sparse_design(n=rows.n, columns=public, rho=rho, error_norm=error_norm, binary=binary, refine=refine)
    estimate = sparse_plan_mean(rows, design, door)
    made = refine if binary else refine - {"combine"}  # of values the first look is for shape only
    share = design.split.sum + (design.split.first_sum if "combine" in made else 0)
    return handed_over(
        estimate,
        rows,
        door,
        public,
        method="plan",
        error_norm=error_norm,
        noise_share=float(share / rho),
        warnings=warnings,
        kind=kind,
        refined=tuple(name for name in REFINEMENTS if name in made),
        privacy_unit=privacy_unit,
        neighbours=neighbours,
        delta=delta,
    )


def handed_over(
    estimate: Estimate,
    rows: RowSource,
    door: MeteredNoise,
    public: Columns,
    *,
    method: str,
    error_norm: float,
    noise_share: float,
    warnings: tuple[str, ...],
    kind: str = "real",
    refined: tuple[str, ...] = (),
    privacy_unit: str = "row",
    neighbours: str = "replace one row",
    delta: float | None = None,
) -> MeanRelease:
    """The release of an estimate whose every number was paid for at the door."""
    receipt = Receipt(
        rho=door.spent,
        payments=door.payments,
        n=rows.n,
        d=rows.d,
        bounds=_pairs(public),
        method=method,
        sampler=door.sampler,
        insecure=door.insecure,
        passes=rows.passes,
        versions=_versions(door.sampler),
        neighbours=neighbours,
        privacy_unit=privacy_unit,
        delta=delta,
    )
    expected = noise_error(estimate.noise_std / public.error_scale, error_norm)
    forecast = Forecast(error=expected, error_norm=error_norm, noise_share=noise_share)
    if estimate.bounds_alone:
        forecast = replace(forecast, covers=BOX_COVERS)
    if estimate.error is not None:
        covers = SHRUNK_COVERS if "shrink" in refined else ITEMS_COVERS
        forecast = Forecast(error=estimate.error, error_norm=error_norm, noise_share=noise_share, covers=covers)
    return MeanRelease(
        estimate=estimate.mean,
        labels=rows.labels,
        noise_std=estimate.noise_std,
        center=estimate.center,
        spread=estimate.spread,
        radius=estimate.radius,
        error_norm=error_norm,
        error_scale=public.error_scale,
        missing=public.missing,
        receipt=receipt,
        forecast=forecast,
        warnings=(*warnings, *estimate.warnings),
        kind=kind,
        refined=refined,
        unrefined=estimate.unrefined,
        error_std=estimate.error_std,
    )


def _pairs(public: Columns) -> tuple[tuple[float, float], ...]:
    """The bounds of all columns; one pair for all where they are alike, since there may be a million."""
    if np.all(public.low == public.low[:1]) and np.all(public.high == public.high[:1]):
        return tuple(zip(public.low[:1].tolist(), public.high[:1].tolist(), strict=True)) * len(public.low)
    return tuple(zip(public.low.tolist(), public.high.tolist(), strict=True))


@cache
def _versions(sampler: str) -> tuple[tuple[str, str], ...]:
    from importlib.metadata import version  # here, since it takes longer to import than most of plandp

    ours = ("plandp", version("plandp")), ("numpy", np.__version__), ("python", platform.python_version())
    return (*ours, ("opendp", version("opendp"))) if sampler == "opendp" else ours
