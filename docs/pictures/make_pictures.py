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
COLOURS = {"plan": "#0072B2", "even split": "#009E73", "unscaled": "#56B4E9", "gaussian": "#E69F00"}


def draw_motivating_example() -> Figure:
    """Return the first table of the page on the paper's (1, λ, …, λ) rows: errors against the number of columns."""
    page = (Path(__file__).parents[1] / "motivating-example.md").read_text(encoding="utf-8")
    head, _, *lines = page[page.index("| q | d |") :].partition("\n\n")[0].splitlines()
    names = [name.strip() for name in head.strip("|").split("|")]
    table = dict(zip(names, zip(*(line.strip("|").split("|") for line in lines), strict=True), strict=True))
    columns = np.array(table["d"], dtype=float)
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    ax = figure.add_subplot()
    for name, colour in COLOURS.items():
        ax.plot(columns, np.array(table[name], dtype=float), "o-", color=colour, markersize=4, label=name)
    worst = np.array(table["worst of plan"], dtype=float)
    ax.plot(columns, worst, "x", color=COLOURS["plan"], markersize=6, label="plan, worst run")
    for times, style, words in (
        (np.ones_like(columns), "-", "a scalar's noise"),
        (np.sqrt(columns), "--", "√d times it"),
    ):
        ax.plot(columns, times, color="black", linewidth=0.8, linestyle=style, label=words)
    ax.set_xscale("log", base=2)
    ax.set_yscale("log")
    ax.set_xticks(columns, [f"{d:.0f}" for d in columns])
    ax.set_xlabel("columns d", fontsize=9)
    ax.set_ylabel("median l2 error\nover the noise of a scalar", fontsize=9)
    ax.set_title("Rows (1, λ, …, λ) or 0: 10,000 of them, bounds (0, 1), ρ = 0.1", fontsize=11, loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, frameon=False, ncols=2, loc="upper left")
    return figure


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
    for name, draw in (("methods", draw_methods), ("motivating-example", draw_motivating_example)):
        (folder / f"{name}.svg").write_text(svg_text(draw()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
