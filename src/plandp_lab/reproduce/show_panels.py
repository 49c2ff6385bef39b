"""A figure of panels in words: a table for each, and whether the paper's claims hold."""

from functools import partial

import numpy as np

from plandp_lab.reproduce.claims import Claim
from plandp_lab.reproduce.draw_panels import draw_panels
from plandp_lab.reproduce.panels import REFERENCES, Measured, Panel, Point, TheirColumn
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.run_noise import FEWEST, failed_runs, standard_error
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
    theirs = measured.columns_of_theirs()
    plan = next((column for column in theirs if column.algorithm == "PLAN"), None)
    head = (
        panel.x_name,
        *(("ρ",) if panel.x_name != "ρ" else ()),
        *(str(column) for column in theirs),
        *panel.entrants,
        *((f"{first} / {plan.name}",) if plan else ()),
        f"{first} / oracle",
    )
    rows = tuple(_line(measured, point, first, theirs, plan) for point in panel.points)
    return Table(
        heading=f"({panel.letter}) {panel.title}: {panel.norm} {measured.measure}, median of {_runs(measured)}",
        rows=(head, *rows),
        note=" ".join(text for text in (_not_published(theirs), _standard_errors(measured), _failed(measured)) if text),
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


def _line(
    measured: Measured, point: Point, first: str, theirs: tuple[TheirColumn, ...], plan: TheirColumn | None
) -> tuple[str, ...]:
    panel = measured.panel
    known = {column: column.of(measured.theirs(point, column.algorithm)) for column in theirs}
    ours, oracle = (measured.median(point, name) for name in (first, "oracle"))
    their_plan = known[plan] if plan else None
    return (
        f"{point.x:g}",
        *((point.cell.rho,) if panel.x_name != "ρ" else ()),
        *map(figures, known.values()),
        *(figures(measured.median(point, name)) for name in panel.entrants),
        *((figures(ours / their_plan if ours and their_plan else None),) if plan else ()),
        figures(ours / oracle if ours and oracle else None),
    )


def _not_published(theirs: tuple[TheirColumn, ...]) -> str:
    return "" if theirs else "No numbers are published for it."


def _standard_errors(measured: Measured) -> str:
    """Of the medians of those who are no mere scale."""
    found = [
        standard_error(quartiles.relative_width, quartiles.runs)
        for point in measured.panel.points
        for name in measured.panel.entrants
        if name not in REFERENCES
        and (quartiles := measured.quartiles(point, name)) is not None
        and quartiles.runs >= FEWEST
    ]
    if not found:
        return ""
    return f"Standard error of a median: {_percent(float(np.median(found)))} as a rule, {_percent(max(found))} at most."


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.2g}%"


def _failed(measured: Measured) -> str:
    """Who had failed runs, where most, and how many."""
    told = []
    for name in measured.panel.entrants:
        runs = [(point, errors) for point in measured.panel.points if (errors := measured.errors(point, name))]
        failed = [(failed_runs(errors), len(errors), point) for point, errors in runs]
        total = sum(count for count, _, _ in failed)
        if total:
            count, of, point = max(failed, key=lambda found: found[0] / found[1])
            place = f"{measured.panel.x_name} = {point.x:g}" + (f", {point.line}" if point.line else "")
            told.append(f"{name} {total} of {sum(of for _, of, _ in failed)} (most at {place}: {count} of {of})")
    return f"Failed runs: {'; '.join(told)}." if told else ""
