"""How popular items are in Kosarak and POS, with the smallest variance that the paper's lemma allows."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.random import default_rng

from plandp.report.colours import BLUE
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.shown import Shown, Table, figures
from plandp_lab.reproduce.stored_sets import Found
from plandp_lab.reproduce.workloads import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEAD = ("set", "n", "d", "ones", "ones per row", "variance floor d^(-2/5)", "items above the floor", "most popular")


def show_histograms(results: Results, *, sets: tuple[Found, ...], notes: tuple[str, ...]) -> Shown:
    """Of the sets that are there."""
    means = [found.rows.draw(default_rng(0)).empirical for found in sets]
    rows = tuple(_line(found, mean) for found, mean in zip(sets, means, strict=True))
    table = Table(heading="Data sets; only the means of their columns are shown", rows=(HEAD, *rows))
    return Shown(tables=(table,) if sets else (), notes=notes, figure=(lambda: _draw(sets, means)) if sets else None)


def _line(found: Found, mean: FloatArray) -> tuple[str, ...]:
    rows, floor = found.rows, found.rows.d**-0.4
    above = int((mean * (1 - mean) >= floor).sum())
    counts = (f"{rows.n:,}", f"{rows.d:,}", f"{rows.entries:,}")
    return (found.known.title, *counts, figures(rows.entries / rows.n), figures(floor), f"{above}", figures(mean.max()))


def _draw(sets: tuple[Found, ...], means: list[FloatArray]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6 * len(sets), 4), layout="constrained", facecolor="white")
    for ax, found, mean in zip(figure.subplots(1, len(sets), squeeze=False)[0], sets, means, strict=True):
        variance = mean * (1 - mean)
        ax.hist(variance[variance > 0], bins=np.geomspace(variance[variance > 0].min(), 0.3, 50), color=BLUE)
        ax.axvline(found.rows.d**-0.4, color="#E69F00", linewidth=2, label="smallest variance allowed, d^(-2/5)")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("variance of an item", fontsize=9)
        ax.set_ylabel("items", fontsize=9)
        ax.set_title(found.known.title, fontsize=9, loc="left", wrap=True)
        ax.legend(fontsize=8, frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
    return figure
