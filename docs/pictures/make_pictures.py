"""Draws the pictures of the documentation with the public functions.  Run it by: make pictures."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import plandp
from plandp.cli.time_use import MINUTES_A_DAY, NAMES, time_use_table
from plandp.report.picture import svg_text

SEED = 1  # the people are invented, so the picture may be the same every time
METHODS = (("gaussian", "#E69F00", -0.22), ("unscaled", "#56B4E9", 0.0), ("plan", "#0072B2", 0.22))


def draw_methods() -> Figure:
    """Return how far each method is off the true means of the demo, at the same budget."""
    table = time_use_table()
    truth = table.mean(axis=0)
    place = np.arange(len(NAMES))
    figure = Figure(figsize=(9, 4), layout="constrained")
    ax = figure.add_subplot()
    ax.axhline(0.0, color="black", linewidth=0.8)
    for method, colour, shift in METHODS:
        release = plandp.mean(table, bounds=(0, MINUTES_A_DAY), rho=0.1, method=method, testing_seed=SEED)
        interval = release.interval(0.95)
        off, low, high = (values - truth for values in (release.estimate, interval.low, interval.high))
        name = f"{method}: l2 error forecast {release.forecast.error:.1f}"
        ax.vlines(place + shift, low, high, color=colour, linewidth=3, alpha=0.55)
        ax.plot(place + shift, off, "o", color=colour, markersize=4, label=name)
    ax.set_xticks(place, NAMES, rotation=45, ha="right", rotation_mode="anchor", fontsize=9)
    ax.set_xlim(-0.7, len(NAMES) - 0.3)
    ax.set_ylabel("private mean minus true mean\nin minutes, with 95% interval", fontsize=9)
    ax.set_title(
        f"Minutes a day of {len(table):,} people, bounds (0, {MINUTES_A_DAY}), ρ = 0.1", fontsize=11, loc="left"
    )
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=9, frameon=False, loc="upper center", ncols=3, bbox_to_anchor=(0.5, 1.0))
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top + 0.12 * (top - bottom))
    return figure


def main(folder: Path) -> None:
    """Write every picture into `folder`."""
    (folder / "methods.svg").write_text(svg_text(draw_methods()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
