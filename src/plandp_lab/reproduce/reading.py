"""An honest reading of the results, made from the results."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from plandp_lab.reproduce.entrants import EMPIRICAL_MEAN, SPENDING_AS_THEY
from plandp_lab.reproduce.exhibits import Exhibit
from plandp_lab.reproduce.panels import Measured, Point
from plandp_lab.reproduce.published import rerun_cells
from plandp_lab.reproduce.results import Results

BREAKS = 3.0  # times the error of plan
CLOSE = 1.25
NOT_PRIVATE = ("oracle", "sampling error")
NOT_RIVALS = (*NOT_PRIVATE, SPENDING_AS_THEY, "coinpress, told σ", "plan, not shrunk")
COST = (
    "**The published Gaussian figures of PLAN cost 3.75 times the ρ that they state.** A quarter of ρ is for centres "
    "and spreads, and in the authors' code these two steps cost 12 times their quarter, for two reasons. The rank of a "
    "median is taken to move by ½ when a row is replaced; it moves by 1, which costs 4 times as much. And every value "
    "is entered three times into one search, so that a row moves a rank by 3, which costs 9 times as much as moving it "
    "by 1; the code pays 3 times as much. The other steps cost what is stated: 12·¼ρ + ¾ρ = 3.75 ρ. That is a lower "
    "limit: their code also sorts every column before it pairs rows for the variances, so that one row changes nearly "
    "all pairs, which no price covers. How far a rank moves is in [quantiles](proofs/quantiles.md), what pairs must be "
    "in [variance estimators](proofs/variance_estimators.md), what plan-classic pays in "
    "[plan-classic](proofs/plan_classic.md)."
)

MEASURE = (
    "Errors are medians to the empirical mean, so the noise alone, but for synthetic 0/1 data, where they are to the "
    "true mean."
)


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A cell with the medians of all who took part, noise alone where that was measured."""

    label: str
    medians: dict[str, float]
    theirs: float | None  # PLAN: authors' code rerun, or the paper's text
    their_iome: float | None

    @property
    def rivals(self) -> dict[str, float]:
        """Private methods at the same budget, told nothing that plan is not told."""
        ours = ("plan", "plan, not shrunk")
        return {name: value for name, value in self.medians.items() if name not in (*NOT_RIVALS, *ours)}


def compared(exhibits: Iterable[Exhibit], results: Results) -> list[Compared]:
    """Every cell once, with everyone who was measured on it anywhere."""
    found: dict[str, Compared] = {}
    for measured, point in _points(exhibits, results):
        key, label = point.cell.key, f"{measured.panel.name}, {_place(measured, point)}"
        before = found.get(key)
        medians = dict(before.medians) if before else {}
        for name in measured.panel.entrants:
            median = measured.median(point, name)
            if median is not None:
                medians[name] = median
        known = [
            measured.theirs(point, name) if measured.measure == EMPIRICAL_MEAN else None for name in ("PLAN", "IOME")
        ]
        theirs, iome = (None if figure is None else figure.median for figure in known)
        if before:
            theirs, iome = theirs or before.theirs, iome or before.their_iome
        if "plan" in medians:
            said = before.label if before else label
            found[key] = Compared(label=said, medians=medians, theirs=theirs, their_iome=iome)
    return list(found.values())


def read_results(exhibits: Iterable[Exhibit], results: Results) -> list[str]:
    """Paragraphs: what the published figures cost, where the classic breaks, where the default wins and loses."""
    cells = compared(exhibits, results)
    if not cells:
        return []
    told = (MEASURE, _authors(cells), _breaks(cells), _wins(cells), _loses(cells), _told(cells), _iome(cells))
    return [text for text in told if text]


def _points(exhibits: Iterable[Exhibit], results: Results) -> Iterator[tuple[Measured, Point]]:
    for exhibit in exhibits:
        for panel in exhibit.panels:
            measure = EMPIRICAL_MEAN if EMPIRICAL_MEAN in panel.measures else panel.measures[0]
            for point in panel.points:
                yield Measured(panel, results, measure), point


def _place(measured: Measured, point: Point) -> str:
    x = f"{measured.panel.x_name} = {point.x:g}"
    return x if measured.panel.x_name == "ρ" else f"{x}, ρ = {point.cell.rho}"


def _authors(cells: list[Compared]) -> str:
    """What the published Gaussian figures really cost, where both ways of spending were measured."""
    both = [cell for cell in cells if cell.theirs and {SPENDING_AS_THEY, "plan-classic"} <= set(cell.medians)]
    if not both:
        return ""
    spending, stated, plan = (
        {cell.label: cell.medians[name] / (cell.theirs or 1.0) for cell in both}
        for name in (SPENDING_AS_THEY, "plan-classic", "plan")
    )
    broken = {label: ratio for label, ratio in stated.items() if ratio > BREAKS}
    found = [ratio for label, ratio in stated.items() if label not in broken]
    known = rerun_cells("PLAN", "gaussian")
    where = f"all {known}" if len(both) == known else f"the {len(both)} of {known}"
    told = "" if len(both) == known else ", those that are measured here with it"
    return (
        f"{COST} The evidence: {SPENDING_AS_THEY}, which is Algorithm 1 with right accounting and so much for each "
        f"step, has {_span(spending.values())} times the noise error of their code in {where} Gaussian cells where "
        f"that was run again{told}. At the stated ρ, plan-classic has {_span(found)} times their error in the "
        f"{len(found)} cells where a quarter of ρ finds all centres or nearly all, and breaks in the other "
        f"{len(broken)}, with more than {BREAKS:g} times their error{_listed(broken, '{:.3g} times')}. plandp's "
        f"default at the stated ρ has {_span(plan.values())} times their error."
    )


def _breaks(cells: list[Compared]) -> str:
    """Cells where Algorithm 1 at honest accounting is of no use."""
    both = [cell for cell in cells if "plan-classic" in cell.medians]
    if not both:
        return ""
    broken = {
        cell.label: cell.medians["plan-classic"] / cell.medians["plan"]
        for cell in both
        if cell.medians["plan-classic"] > BREAKS * cell.medians["plan"]
    }
    return (
        f"**Where classic PLAN breaks at honest accounting:** in {len(broken)} of {len(both)} cells plan-classic errs "
        f"more than {BREAKS:g} times as much as the default" + _listed(broken, "{:.3g} times") + "."
    )


def _wins(cells: list[Compared]) -> str:
    """Cells where the default is below everyone at the same budget."""
    both = [cell for cell in cells if {"plan-classic", "iome"} <= set(cell.medians)]
    if not both:
        return ""
    won = sum(cell.medians["plan"] < min(cell.medians["plan-classic"], _best_iome(cell)) for cell in both)
    oracle = [cell.medians["plan"] / cell.medians["oracle"] for cell in cells if "oracle" in cell.medians]
    near = f" Its error is {min(oracle):.3g} to {max(oracle):.3g} times that of the oracle." if oracle else ""
    return f"**Where the default beats both:** plan is below plan-classic and IOME in {won} of {len(both)} cells.{near}"


def _loses(cells: list[Compared]) -> str:
    """Cells where some other private method at the same budget is better."""
    if not any(cell.rivals for cell in cells):
        return ""
    lost = {
        f"{cell.label} ({name})": cell.medians["plan"] / value
        for cell in cells
        for name, value in cell.rivals.items()
        if value < cell.medians["plan"]
    }
    return (
        f"**Where it does not:** in {len(lost)} comparisons another private method at the same ρ has the smaller median"
        + _listed(lost, "plan {:.3f} times as large")
        + "."
    )


def _told(cells: list[Compared]) -> str:
    """What was said to one and not to others."""
    name = "coinpress, told σ"
    both = [cell for cell in cells if name in cell.medians]
    if not both:
        return ""
    better = sum(cell.medians[name] < cell.medians["plan"] for cell in both)
    return (
        f"**Told more than the others:** CoinPress is told the true spreads in {len(both)} cells and is below plan, "
        f"which is not, in {better} of them."
    )


def _iome(cells: list[Compared]) -> str:
    """Whether the competitor is as good here as where it comes from."""
    told = []
    for name in ("iome", "iome as published"):
        ratios = {
            cell.label: cell.medians[name] / cell.their_iome
            for cell in cells
            if cell.their_iome is not None and name in cell.medians
        }
        off = {label: ratio for label, ratio in ratios.items() if not 1 / CLOSE <= ratio <= CLOSE}
        if ratios:
            told.append(f"{name} in {len(ratios) - len(off)} of {len(ratios)}" + _listed(off, "{:.3g} times"))
    if not told:
        return ""
    return (
        "**IOME here and there:** of the cells with a figure of IOME from the authors' code or the paper's text, ours "
        f"has {1 / CLOSE:g} to {CLOSE:g} times its error: {'; '.join(told)}. The first looks for rotated medians "
        "wherever rows within the bounds can be, the second within ±M/√d."
    )


def _best_iome(cell: Compared) -> float:
    """In whichever universe it does better."""
    return min(median for name, median in cell.medians.items() if name.startswith("iome"))


def _listed(found: dict[str, float], wording: str) -> str:
    """The worst ten, largest first."""
    if not found:
        return ""
    worst = sorted(found.items(), key=lambda item: -item[1])
    shown = "; ".join(f"{label}: {wording.format(ratio)}" for label, ratio in worst[:10])
    return f" ({shown}" + ("; …)" if len(worst) > 10 else ")")


def _span(ratios: Collection[float]) -> str:
    return f"{min(ratios):.3g} to {max(ratios):.3g}" if ratios else "no"
