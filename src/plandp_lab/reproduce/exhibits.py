"""Everything that the paper shows, by name: what has to be measured for it, and what it then looks like."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from plandp.errors import ArgumentError
from plandp_lab.reproduce.cells import Cell
from plandp_lab.reproduce.claims import Claim
from plandp_lab.reproduce.histograms import show_histograms
from plandp_lab.reproduce.illustration import show_illustration
from plandp_lab.reproduce.noise_shapes import show_noise_shapes
from plandp_lab.reproduce.panels import (
    LARGE,
    Panel,
    binary_panel,
    correlated_panels,
    panel_a,
    panel_b,
    panel_c,
    set_panel,
    small_rho_panels,
)
from plandp_lab.reproduce.paper_claims import (
    CORRELATED_CLAIMS,
    GAUSSIAN_CLAIMS,
    LARGEST_CLAIMS,
    NO_SCALING_CLAIMS,
    SET_CLAIMS,
    SMALL_RHO_CLAIMS,
    binary_claims,
    synthetic_claims,
    unscaled_binary_claims,
)
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.running_times import show_times
from plandp_lab.reproduce.scale import Scale
from plandp_lab.reproduce.settings import show_settings
from plandp_lab.reproduce.show_panels import show_panels
from plandp_lab.reproduce.shown import Shown
from plandp_lab.reproduce.stored_sets import KOSARAK, POS, Found, find_set
from plandp_lab.reproduce.variance_table import show_variances, variance_cells

NO_SCALING = ("plan", "unscaled", "plan-classic", "plan-classic, no scaling", "iome", "iome as published")
THEIR_NO_SCALING = (
    "PLAN-noscale in the authors' Gaussian files and code is in effect the private median of every column."
)
NO_SCALING_BINARY = ("plan, not shrunk", "plan-classic", "plan-classic, no scaling", "iome")


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A figure or table of the paper."""

    name: str
    title: str
    place: str  # in the paper
    show: Callable[[Results], Shown]
    cells: tuple[Cell, ...] = ()
    panels: tuple[Panel, ...] = ()


def all_exhibits(scale: Scale, data: Path | None) -> tuple[Exhibit, ...]:
    """In the order of the paper."""
    kosarak, pos = find_set(KOSARAK, data), find_set(POS, data)
    sets = tuple(
        set_panel(scale, found, letter) for found, letter in ((kosarak, "b"), (pos, "c")) if isinstance(found, Found)
    )
    missing = tuple(found for found in (kosarak, pos) if isinstance(found, str))
    middle = scale.binary_dims[len(scale.binary_dims) // 2]
    plain = (
        binary_panel(scale, middle, "a", entrants=NO_SCALING_BINARY),
        *(
            replace(
                panel, points=tuple(replace(point, cell=_of(point.cell, NO_SCALING_BINARY)) for point in panel.points)
            )
            for panel in sets
        ),
    )
    long = tuple(dict.fromkeys((*scale.dims, *scale.largest)))
    return (
        Exhibit(
            name="illustration",
            title="Step by step",
            place="Figure 1",
            show=show_illustration,
        ),
        Exhibit(
            name="settings",
            title="Settings",
            place='the table in "Experiment design"',
            show=partial(show_settings, scale=scale),
        ),
        Exhibit(
            name="histograms",
            title="How popular items are in Kosarak and POS",
            place='the figure in "Binary data"',
            show=partial(show_histograms, sets=tuple(f for f in (kosarak, pos) if isinstance(f, Found)), notes=missing),
        ),
        _figure(
            "gaussian",
            "Gaussian data",
            'first figure of "Results"',
            (panel_a(scale), panel_b(scale), panel_c(scale)),
            GAUSSIAN_CLAIMS,
        ),
        _figure(
            "gaussian-small-rho",
            "Gaussian data at ρ = 0.01",
            'second figure of "Results"',
            small_rho_panels(scale),
            SMALL_RHO_CLAIMS,
        ),
        _figure(
            "binary",
            "Binary data: synthetic, Kosarak, POS",
            'third figure of "Results"',
            (binary_panel(scale, middle, "a"), *sets),
            binary_claims(middle, sets),
            missing,
        ),
        _figure(
            "binary-dimensions",
            f"Synthetic binary data, d = {scale.binary_dims[0]} … {scale.binary_dims[-1]}",
            "the dimensions of the settings table; published files",
            tuple(binary_panel(scale, d, "abcd"[place]) for place, d in enumerate(scale.binary_dims)),
            tuple(claim for place, d in enumerate(scale.binary_dims) for claim in synthetic_claims(place, d)),
        ),
        *(
            _figure(
                name,
                title,
                f'third figure of "Results", {letter}',
                tuple(panel for panel in sets if panel.experiment == experiment),
                SET_CLAIMS[experiment],
                tuple(note for note in missing if note.startswith(title)),
            )
            for name, title, letter, experiment in (("kosarak", "Kosarak", "b", "kosarak"), ("pos", "POS", "c", "POS"))
        ),
        Exhibit(
            name="times",
            title="Running times",
            place='"Results", first paragraph',
            show=partial(show_times, panels=sets, notes=missing),
            cells=tuple(panel.points[0].cell for panel in sets),
            panels=sets,
        ),
        Exhibit(
            name="noise-shapes",
            title="Shape of the noise for different stretches",
            place="the figure in the appendix on scaling",
            show=show_noise_shapes,
        ),
        Exhibit(
            name="variance",
            title="Variance estimators",
            place="the table in the appendix on variance estimation",
            show=partial(show_variances, scale=scale),
            cells=variance_cells(scale),
        ),
        _figure(
            "correlated",
            "Correlated data: A′ and C′",
            "the figure in the appendix on correlated data",
            correlated_panels(scale),
            CORRELATED_CLAIMS,
        ),
        _figure(
            "no-scaling-gaussian",
            "Gaussian data without scaling",
            "first figure of the appendix on no scaling",
            tuple(make(scale, entrants=NO_SCALING) for make in (panel_a, panel_b, panel_c)),
            NO_SCALING_CLAIMS,
            (THEIR_NO_SCALING,),
        ),
        _figure(
            "no-scaling-binary",
            "Binary data without scaling",
            "second figure of the appendix on no scaling",
            plain,
            unscaled_binary_claims(plain),
            missing,
        ),
        _figure(
            "gaussian-2048",
            f"Gaussian data up to d = {scale.largest[-1]}",
            "the last appendix",
            (
                panel_a(scale, dims=long, entrants=LARGE),
                panel_b(scale, entrants=LARGE),
                panel_c(scale, dims=long, entrants=LARGE),
            ),
            LARGEST_CLAIMS,
        ),
    )


def chosen(exhibits: tuple[Exhibit, ...], names: str) -> tuple[Exhibit, ...]:
    """Those of a list such as "gaussian,variance"; "all" for all."""
    known = {exhibit.name: exhibit for exhibit in exhibits}
    asked = [name.strip() for name in names.split(",")]
    if asked == ["all"]:
        return exhibits
    for name in asked:
        if name not in known:
            wrong = "all goes alone" if name == "all" else f"there is no {name!r}" if name else "there is an empty name"
            raise ArgumentError(
                "exhibits",
                f"{wrong}; name one or more of {', '.join(known)}, or all; --list says where each is in the paper",
            )
    return tuple(exhibit for exhibit in exhibits if exhibit.name in asked)


def _figure(
    name: str,
    title: str,
    place: str,
    panels: tuple[Panel, ...],
    claims: tuple[Claim, ...],
    notes: tuple[str, ...] = (),
) -> Exhibit:
    return Exhibit(
        name=name,
        title=title,
        place=place,
        show=partial(show_panels, panels=panels, claims=tuple(c for c in claims if c.panel < len(panels)), notes=notes),
        cells=tuple(point.cell for panel in panels for point in panel.points),
        panels=panels,
    )


def _of(cell: Cell, entrants: tuple[str, ...]) -> Cell:
    return replace(cell, entrants=(*entrants, *cell.entrants[-2:]))
