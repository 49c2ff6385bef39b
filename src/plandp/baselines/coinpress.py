"""CoinPress (Biswas, Dong, Kamath and Ullman 2020): a ball around the mean that shrinks from step to step."""

from dataclasses import replace

from plandp.data.rows import Rows
from plandp.mechanisms.ball_sum import private_ball_sum
from plandp.noise.meter import MeteredNoise
from plandp.steps.estimate import Estimate, unstretched
from plandp.steps.radius import stretched_view
from plandp.terms.design import Design
from plandp.theory.box import box_center
from plandp.theory.coinpress import assumed_spread, coinpress_balls, coinpress_warnings


def coinpress_mean(rows: Rows, design: Design, noise: MeteredNoise, *, spread_share: float) -> Estimate:
    """The mean by `center_rounds` rough means and a last one, each of rows clipped to a ball around the one before.

    Guarantee: design.split.rho-zCDP when one row is replaced: every step is a clipped sum, its radius public.
    The ball's radii follow from public numbers, and only its centres are released.  Rows are measured in publicly
    known spreads, or in `spread_share` of the widths where none are known.  Proof: docs/proofs/coinpress.md.
    """
    columns = design.columns
    spread = assumed_spread(columns, spread_share)
    balls = coinpress_balls(spread, design)
    center = box_center(columns)
    for ball in balls:
        last = ball is balls[-1]
        total = private_ball_sum(
            rows,
            stretched_view(center, spread, design),
            ball.reach,
            noise,
            points=design.lattice_points,
            rho=ball.rho,
            step="sum" if last else "center",
        )
        estimate = unstretched(total, center, spread, spread, ball.reach, design)
        if ball.shrinks:  # with too few rows it would grow from step to step: public, so that the old one is kept
            center = estimate.mean
    known = estimate if columns.spread is not None else replace(estimate, spread=None)
    return known.warning(*coinpress_warnings(balls, design, spread_share))
