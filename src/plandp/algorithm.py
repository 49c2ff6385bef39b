"""PLAN (Algorithm 1 of "PLAN: Variance-Aware Private Mean Estimation") for tables of real numbers."""

from plandp.data.rows import Rows
from plandp.mechanisms.clipped_sum import private_clipped_sum
from plandp.noise.meter import MeteredNoise
from plandp.steps.center import private_center
from plandp.steps.estimate import Estimate
from plandp.steps.radius import private_radius, stretched_norm_cells
from plandp.steps.sample import public_sample
from plandp.steps.spread import private_spread
from plandp.terms.design import Design
from plandp.theory.box import box_center, box_spread, no_wider_than_box
from plandp.theory.clipping import gaussian_radius, one_sided_rows
from plandp.theory.guards import clipping_bias, lost_centers, radius_at_the_edge, too_few_rows
from plandp.theory.stretch import optimal_stretch


def plan_mean(rows: Rows, design: Design, noise: MeteredNoise) -> Estimate:
    """Estimate the mean of `rows`; each coordinate gets the noise its spread deserves.

    Guarantee: design.split.rho-zCDP when one row is replaced (n is public).  Proof: docs/proofs/plan_mean.md.
    """
    columns, n, p = design.columns, design.n, design.error_norm
    if design.split.center:
        sample = public_sample(rows, design, noise)
        μ = private_center(sample, design, noise)  # line 4: μ̃
        σ = columns.spread_in_units
        if σ is None:
            σ = private_spread(sample, μ, design, noise)  # §6: σ̂
        μ, σ = no_wider_than_box(μ, σ, columns)
    else:  # too few rows to find centres: the bounds are all that is known
        μ, σ = box_center(columns), box_spread(columns)
    s = optimal_stretch(σ, p)  # line 3: Σ̂^(1/(p+2))
    y = stretched_norm_cells(rows, μ, σ, s, design)  # line 5: (x - μ̃) / s
    C = private_radius(y, σ, s, design, noise)  # line 6
    total = private_clipped_sum(y, C, noise, rho=design.split.sum, step="sum")  # lines 7–8
    unit = columns.error_scale * s / n
    mean, noise_std = μ + total.total * unit, total.noise_std * unit  # line 8: undo the stretch, back to μ̃
    radius = float(y.cells.edges[C])
    return Estimate(
        mean=mean,
        noise_std=noise_std,
        center=μ,
        spread=σ * columns.error_scale,
        radius=radius,
        warnings=(
            *too_few_rows(design),
            *lost_centers(mean, μ, σ * columns.error_scale, noise_std, columns.labels),
            *clipping_bias(radius, gaussian_radius(σ / s, one_sided_rows(s, design) / n)[0]),
            *radius_at_the_edge(C, len(y.cells.edges)),
        ),
    )
