"""A figure of panels in words: a table for each, and whether the paper's claims hold."""

from functools import partial

from plandp_lab.reproduce.claims import Claim
from plandp_lab.reproduce.draw_panels import draw_panels
from plandp_lab.reproduce.entrants import TRUE_MEAN
from plandp_lab.reproduce.panels import Measured, Panel, Point
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.shown import Shown, Table, figures


def show_panels(
    results: Results, *, panels: tuple[Panel, ...], claims: tuple[Claim, ...], notes: tuple[str, ...] = ()
) -> Shown:
    """Tables, one line per claim, and the figure."""
    measured = [Measured(panel, results, panel.measures[0]) for panel in panels]
    said = []
    for claim in claims:
        panel = panels[claim.panel]
        measure = claim.measure or panel.measures[0]
        verdicts = "; ".join(str(verdict) for verdict in claim.verdicts(Measured(panel, results, measure)))
        said.append(f"({panel.letter}) {claim.sentence} [{claim.judge.criterion}, error {measure}]: {verdicts}")
    return Shown(
        tables=tuple(panel_table(Measured(panel, results, name)) for panel in panels for name in panel.measures),
        claims=tuple(said),
        notes=(*(panel.note for panel in panels if panel.note), *notes),
        figure=partial(draw_panels, measured) if panels else None,
    )


def panel_table(measured: Measured) -> Table:
    """A line per cell: what others found, medians of all entrants, and plan over some of them."""
    panel = measured.panel
    first = next(name for name in panel.entrants if name.startswith("plan"))
    measure = "" if len(panel.measures) == 1 and measured.measure != TRUE_MEAN else f", error {measured.measure}"
    norm = "ℓ1/2" if panel.points[0].cell.workload.binary else "ℓ2"
    head = (
        panel.x_name,
        *(("ρ",) if panel.x_name != "ρ" else ()),
        "their PLAN",
        "their IOME",
        *panel.entrants,
        f"{first} / their PLAN",
        f"{first} / oracle",
    )
    rows = tuple(_line(measured, point, first) for point in panel.points)
    return Table(
        heading=f"({panel.letter}) {panel.title}: {norm}{measure}, median of {_runs(measured)}",
        rows=(head, *rows),
        note=_sources(measured),
    )


def _runs(measured: Measured) -> str:
    """How many there were, with those of who is run less often."""
    counts: dict[str, set[int]] = {}
    for point in measured.panel.points:
        for name in measured.panel.entrants:
            if (found := measured.quartiles(point, name)) is not None:
                counts.setdefault(name if name in dict(point.cell.fewer) else "", set()).add(found.runs)
    told = {name: _span(found) for name, found in counts.items()}
    rare = "".join(f" ({name}: {span})" for name, span in told.items() if name)
    usual = told.get("", "0")
    return f"{usual}{rare} {'run' if usual == '1' and not rare else 'runs'}"


def _span(counts: set[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def _line(measured: Measured, point: Point, first: str) -> tuple[str, ...]:
    panel = measured.panel
    plan, iome = (measured.theirs(point, name) for name in ("PLAN", "IOME"))
    ours, oracle = (measured.median(point, name) for name in (first, "oracle"))
    return (
        f"{point.x:g}",
        *((point.cell.rho,) if panel.x_name != "ρ" else ()),
        figures(plan.median if plan else None),
        figures(iome.median if iome else None),
        *(figures(measured.median(point, name)) for name in panel.entrants),
        figures(ours / plan.median if ours and plan else None),
        figures(ours / oracle if ours and oracle else None),
    )


def _sources(measured: Measured) -> str:
    found = {
        figure.source: figure.runs
        for point in measured.panel.points
        for name in ("PLAN", "IOME")
        if (figure := measured.theirs(point, name)) is not None
    }
    told = [f"{source}, {runs} runs" if runs else source for source, runs in found.items()]
    return f"Theirs: {'; '.join(told)}." if told else "Theirs: no figure is published."
