"""Seconds of a call on Kosarak and POS, beside those of the paper."""

from plandp_lab.reproduce.panels import REFERENCES, THEIRS, Panel
from plandp_lab.reproduce.published import Place, in_the_text
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.shown import Shown, Table, figures


def show_times(results: Results, *, panels: tuple[Panel, ...], notes: tuple[str, ...]) -> Shown:
    """At the largest budget; other cells run at the same time on the other cores."""
    rows, claims = [], []
    for panel in panels:
        cell = panel.points[0].cell
        entrants = [name for name in panel.entrants if name not in REFERENCES]
        taken = {name: results.median(cell, name, "seconds") for name in entrants}
        for name, seconds in taken.items():
            rows.append((panel.title, name, figures(seconds), figures(_paper(panel, name))))
        plan, iome = taken.get("plan"), taken.get("iome")
        if plan and iome:
            holds = "yes" if plan < iome else "NO"
            claims.append(f"{panel.title}: PLAN is faster than IOME: {holds} ({iome / plan:.3g} times)")
    table = Table(
        heading="CPU seconds of a call; the paper: seconds on 28 cores, and for IOME a lower limit",
        rows=(("set", "method", "seconds", "the paper, whole set"), *rows),
    )
    return Shown(tables=(table,) if rows else (), claims=tuple(claims), notes=notes)


def _paper(panel: Panel, entrant: str) -> float | None:
    sizes = {"kosarak": (75_462, 27_983), "POS": (515_596, 1_657)}
    n, d = sizes[panel.experiment]
    figure = in_the_text(Place(experiment="seconds", n=n, d=d, rho="1", x=panel.experiment), THEIRS.get(entrant, ""))
    return None if figure is None else figure.median
