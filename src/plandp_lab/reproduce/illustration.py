"""Figure 1: Algorithm 1 step by step on rows of two columns."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.random import default_rng

import plandp
from plandp.report.colours import BLUE, VERMILLION
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.shown import Shown, Table, figures
from plandp_lab.reproduce.workloads import FloatArray, seed_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, SHOWN, RHO, BOUND = 2_000, 200, "0.05", 100.0
CENTER, SPREAD = np.array([22.0, 12.0]), np.array([9.0, 1.5])


def show_illustration(results: Results) -> Shown:
    """Released numbers of one release, and the rows they were made of: invented, or they could not be shown."""
    rows = CENTER + SPREAD * default_rng(seed_of("illustration")).standard_normal((ROWS, 2))
    release = plandp.mean(
        rows, bounds=(-BOUND, BOUND), rho=RHO, smallest_spread=1 / 16, method="plan-classic", testing_seed=1
    )
    assert release.spread is not None
    lines = (
        ("true mean of the rows", rows.mean(axis=0)),
        ("centre (line 4)", release.center),
        ("true spread of the rows", rows.std(axis=0)),
        ("spread that was found", release.spread),
        ("private mean (line 8)", release.estimate),
    )
    return Shown(
        tables=(
            Table(
                heading=f"plan-classic on {ROWS:,} rows, ρ = {RHO}: C = {figures(release.radius)} (line 6)",
                rows=(
                    ("", "first column", "second column"),
                    *((name, *map(figures, values)) for name, values in lines),
                ),
            ),
        ),
        figure=lambda: _draw(rows, release),
    )


def _draw(rows: FloatArray, release: plandp.MeanRelease) -> "Figure":
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    assert release.spread is not None
    regularised = release.spread + release.spread.mean()
    stretched = (rows - release.center) / np.sqrt(regularised)
    norm = np.linalg.norm(stretched, axis=1)
    clipped = stretched * np.minimum(1.0, release.radius / norm)[:, None]
    figure = Figure(figsize=(16, 4.2), layout="constrained", facecolor="white")
    raw, middle, clip, last = figure.subplots(1, 4)
    dots = {"marker": ".", "linestyle": "", "markersize": 3}
    raw.plot(*rows[:SHOWN].T, color="#777777", **dots)
    raw.plot(*CENTER, marker="*", color="#E69F00", markersize=14, linestyle="", markeredgecolor="black")
    middle.plot(*(rows - release.center)[:SHOWN].T, color=BLUE, label="recentred", **dots)
    middle.plot(*stretched[:SHOWN].T, color="#E69F00", label="and stretched", **dots)
    middle.legend(fontsize=8, frameon=False, loc="upper right")
    clip.plot(*clipped[:SHOWN].T, color="#E69F00", **dots)
    outside = norm[:SHOWN] > release.radius
    clip.plot(*stretched[:SHOWN][outside].T, color=VERMILLION, **dots)
    clip.add_patch(Circle((0, 0), release.radius, fill=False, color="black"))
    last.plot(*rows[:SHOWN].T, color="#cccccc", **dots)
    last.plot(*CENTER, marker="*", color="#E69F00", markersize=14, linestyle="", markeredgecolor="black")
    last.plot(*release.estimate, marker="X", color="#009E73", markersize=11, linestyle="", markeredgecolor="black")
    titles = ("raw data, true mean (star)", "recentred, stretched", "clipped to C", "private mean (cross)")
    for ax, letter, title in zip((raw, middle, clip, last), "abcd", titles, strict=True):
        ax.set_title(f"({letter}) {title}", fontsize=9, loc="left")
        ax.set_aspect("equal", adjustable="datalim")
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
    return figure
