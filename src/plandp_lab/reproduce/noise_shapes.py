"""The shape of the noise for different stretches, where one query is 4 times as sensitive as the other."""

from typing import TYPE_CHECKING

import numpy as np

from plandp.report.colours import BLUE, SKY, VERMILLION
from plandp_lab.reproduce.draw_panels import GREEN
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.shown import Shown, Table, figures
from plandp_lab.reproduce.workloads import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SENSITIVITIES = np.array([4.0, 1.0])
STRETCHES = (
    ("no stretch, s = 1", 0.0, "#777777"),
    ("PLAN for p = 2, s = Δ^(1/2)", 1 / 2, BLUE),
    ("PLAN for p = 1, s = Δ^(2/3)", 2 / 3, SKY),
    ("even split, s = Δ", 1.0, VERMILLION),
)


def noise_std(power: float) -> FloatArray:
    """Standard deviations at ρ = 1/2: ‖Δ/s‖₂·s with s = Δ^power."""
    stretch = SENSITIVITIES**power
    return np.asarray(np.linalg.norm(SENSITIVITIES / stretch) * stretch)


def show_noise_shapes(results: Results) -> Shown:
    """Formulas only: nothing is measured."""
    stds = [(name, noise_std(power)) for name, power, _ in STRETCHES]
    moments = [(std.sum(), float(np.sqrt((std**2).sum()))) for _, std in stds]
    least = [min(moment[place] for moment in moments) for place in range(2)]
    rows = tuple(
        (name, *map(figures, std), figures(one), figures(two))
        for (name, std), (one, two) in zip(stds, moments, strict=True)
    )
    p2, p1 = moments[1][1] == least[1], moments[2][0] == least[0]
    return Shown(
        tables=(
            Table(
                heading="Noise of two queries with sensitivities 4 and 1, at ρ = 1/2",
                rows=(("stretch", "std, first", "std, second", "Σ std (p = 1)", "√Σ std² (p = 2)"), *rows),
            ),
        ),
        claims=(f"s = Δ^(2/(p+2)) has the smallest p-th moment of the noise: p = 2: {_yes(p2)}; p = 1: {_yes(p1)}",),
        figure=_draw,
    )


def _yes(holds: bool) -> str:
    return "yes" if holds else "NO"


def _draw() -> "Figure":
    from matplotlib.figure import Figure
    from matplotlib.patches import Ellipse, Rectangle

    figure = Figure(figsize=(6.4, 5.2), layout="constrained", facecolor="white")
    ax = figure.add_subplot()
    for name, power, colour in STRETCHES:
        first, second = noise_std(power)
        ax.add_patch(Ellipse((0, 0), 2 * first, 2 * second, fill=False, edgecolor=colour, linewidth=1.8, label=name))
    box = Rectangle((-4, -1), 8, 2, facecolor=GREEN, alpha=0.2, label="what one person can change")
    ax.add_patch(box)
    limit = 1.1 * max(noise_std(power).max() for _, power, _ in STRETCHES)
    ax.set_xlim(-limit, limit)
    ax.set_ylim(-limit, limit)
    ax.set_aspect("equal")
    ax.set_xlabel("noise of the first query (one standard deviation)", fontsize=9)
    ax.set_ylabel("noise of the second query", fontsize=9)
    figure.legend(fontsize=8, frameon=False, loc="outside lower center", ncols=3)
    ax.spines[["top", "right"]].set_visible(False)
    return figure
