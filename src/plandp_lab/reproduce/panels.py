"""Panels of the paper's figures as data: which cells, along which axis, measured against what."""

from dataclasses import dataclass

from plandp_lab.reproduce.cells import Cell
from plandp_lab.reproduce.entrants import EMPIRICAL_MEAN, SPENDING_AS_THEY, TRUE_MEAN
from plandp_lab.reproduce.published import Figure, Place, Source, in_the_text, published, rerun
from plandp_lab.reproduce.results import Quartiles, Results
from plandp_lab.reproduce.scale import Scale
from plandp_lab.reproduce.stored_sets import Found
from plandp_lab.reproduce.workloads import (
    Workload,
    binary_rows,
    case_a,
    case_b,
    case_c,
    correlated_a,
    correlated_c,
)

SMALL_RHO = "0.01"
REFERENCES = ("oracle", "sampling error")
GAUSSIAN = (
    *("plan", "plan-classic", SPENDING_AS_THEY, "iome", "iome as published"),
    *("mahalanobis", "coinpress, told σ", "gaussian"),
)
LARGE = ("plan", "plan-classic", "iome", "iome as published")  # where a run takes long
LONGEST = ("plan", "plan-classic", "iome")  # … and rows are so many that the universe of IOME does not matter
BINARY = ("plan", "plan, not shrunk", "plan-classic", "iome")
THEIRS = {  # the paper's names of what we run
    "plan": "PLAN",
    "plan-classic": "PLAN",
    "iome": "IOME",
    "iome as published": "IOME",
    "plan-classic, no scaling": "PLAN-noscale",
    "unscaled": "PLAN-noscale",
}

ALGORITHMS = ("PLAN", "PLAN-noscale", "IOME")  # as columns go
SOURCES: dict[Source, str] = {
    "published": "published",
    "authors' code rerun": "their code again",
    "paper's text": "paper's text",
}


@dataclass(frozen=True, kw_only=True)
class Point:
    """A cell with its place in a panel."""

    x: float
    line: str  # points of the same line are joined
    cell: Cell


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One coordinate system."""

    letter: str
    name: str  # short, for sentences
    title: str
    x_name: str
    points: tuple[Point, ...]
    experiment: str  # its name in the published files
    measures: tuple[str, ...]  # the first is drawn
    log_x: bool = False
    note: str = ""

    @property
    def entrants(self) -> tuple[str, ...]:
        """Who takes part, with oracle and sampling error at the end."""
        return self.points[0].cell.entrants

    @property
    def lines(self) -> tuple[str, ...]:
        """From the largest budget on."""
        return tuple(dict.fromkeys(point.line for point in self.points))

    @property
    def norm(self) -> str:
        """What an error is."""
        return "half the ℓ1 distance" if self.points[0].cell.workload.binary else "ℓ2 distance"

    def theirs(self, point: Point, algorithm: str, measure: str) -> Figure | None:
        """What others measured at this point, against the same."""
        cell, of_a_set = point.cell, self.experiment in ("kosarak", "POS")
        workload = cell.workload
        place = Place(experiment=self.experiment, n=workload.n, d=workload.d, rho=cell.rho, x=f"{point.x:g}")
        if measure == TRUE_MEAN:
            return published(place, algorithm)
        whole = published(place, algorithm) if of_a_set else None
        return whole or rerun(place, algorithm) or in_the_text(place, algorithm)


@dataclass(frozen=True, kw_only=True)
class TheirColumn:
    """Medians of one algorithm that others measured, all of one source."""

    algorithm: str
    source: Source
    runs: int | None

    @property
    def name(self) -> str:
        """Whose, and what it is."""
        return f"{self.algorithm}, {SOURCES[self.source]}"

    def __str__(self) -> str:
        runs = "" if self.runs is None else f" ({self.runs} runs)"
        return f"{self.name}{runs}"

    def of(self, figure: Figure | None) -> float | None:
        """The median, if it belongs here."""
        return figure.median if figure is not None and figure.source == self.source else None


@dataclass(frozen=True)
class Measured:
    """A panel with what was measured of it."""

    panel: Panel
    results: Results
    measure: str

    def quartiles(self, point: Point, entrant: str) -> Quartiles | None:
        """Ours."""
        return self.results.quartiles(point.cell, entrant, self.measure)

    def median(self, point: Point, entrant: str) -> float | None:
        """Ours."""
        return self.results.median(point.cell, entrant, self.measure)

    def errors(self, point: Point, entrant: str) -> dict[int, float]:
        """Ours, run by run."""
        return self.results.errors(point.cell, entrant, self.measure)

    def theirs(self, point: Point, algorithm: str) -> Figure | None:
        """Theirs."""
        return self.panel.theirs(point, algorithm, self.measure)

    def columns_of_theirs(self) -> tuple[TheirColumn, ...]:
        """What others measured of those who take part, as columns with something in them."""
        asked = [name for name in ALGORITHMS if name in {THEIRS.get(entrant) for entrant in self.panel.entrants}]
        return tuple(
            dict.fromkeys(
                TheirColumn(algorithm=name, source=figure.source, runs=figure.runs)
                for name in asked
                for point in self.panel.points
                if (figure := self.theirs(point, name)) is not None
            )
        )


def _points(
    rhos: tuple[str, ...], tables: tuple[tuple[float, Workload], ...], entrants: tuple[str, ...], runs: int
) -> tuple[Point, ...]:
    return tuple(
        Point(
            x=x,
            line=f"ρ = {rho}",
            cell=Cell(workload=table, rho=rho, entrants=(*entrants, *REFERENCES), runs=runs),
        )
        for rho in rhos
        for x, table in tables
    )


def panel_a(scale: Scale, *, dims: tuple[int, ...] | None = None, entrants: tuple[str, ...] = GAUSSIAN) -> Panel:
    """Gaussian A."""
    tables = tuple((float(d), case_a(d)) for d in dims or scale.dims)
    return _along_d("a", "Gaussian A: no skew, n = 4,000", _points(scale.rhos, tables, entrants, scale.runs), TRUE_MEAN)


def panel_b(scale: Scale, *, entrants: tuple[str, ...] = GAUSSIAN) -> Panel:
    """Gaussian B."""
    tables = tuple((alpha, case_b(alpha, scale.columns_b)) for alpha in scale.alphas)
    return Panel(
        letter="b",
        name=f"Gaussian B, d = {scale.columns_b}",
        title=f"Gaussian B: skew α, n = 10,000, d = {scale.columns_b}",
        x_name="α",
        points=_points(scale.rhos, tables, entrants, scale.runs),
        experiment="gaussianB",
        measures=(TRUE_MEAN, EMPIRICAL_MEAN),
    )


def panel_c(scale: Scale, *, dims: tuple[int, ...] | None = None, entrants: tuple[str, ...] = GAUSSIAN) -> Panel:
    """Gaussian C; drawn as distance to the empirical mean, as in the paper, whose files have the other one."""
    tables = tuple((float(d), case_c(d)) for d in dims or scale.dims)
    points = _points(scale.rhos, tables, entrants, scale.runs)
    return _along_d("c", "Gaussian C: α = 2, n = 10,000", points, EMPIRICAL_MEAN)


def _along_d(letter: str, title: str, points: tuple[Point, ...], drawn: str) -> Panel:
    return Panel(
        letter=letter,
        name=f"Gaussian {letter.upper()}",
        title=title,
        x_name="d",
        points=points,
        experiment=f"gaussian{letter.upper()}",
        measures=(TRUE_MEAN, EMPIRICAL_MEAN) if drawn == TRUE_MEAN else (EMPIRICAL_MEAN, TRUE_MEAN),
        log_x=True,
    )


def small_rho_panels(scale: Scale) -> tuple[Panel, ...]:
    """A, B and C at ρ = 0.01."""
    n, entrants, dims = scale.small_rho_rows, LONGEST, scale.small_rho_dims
    made = (
        ("a", "Gaussian A: no skew", "d", tuple((float(d), case_a(d, n)) for d in dims), TRUE_MEAN),
        (
            "b",
            f"Gaussian B: skew α, d = {scale.small_rho_columns_b}",
            "α",
            tuple((alpha, case_b(alpha, scale.small_rho_columns_b, n)) for alpha in scale.alphas),
            TRUE_MEAN,
        ),
        ("c", "Gaussian C: α = 2", "d", tuple((float(d), case_c(d, n)) for d in dims), EMPIRICAL_MEAN),
    )
    return tuple(
        Panel(
            letter=letter,
            name=f"Gaussian {letter.upper()}" + (f", d = {scale.small_rho_columns_b}" if letter == "b" else ""),
            title=f"{title}, n = {n:,}",
            x_name=x_name,
            points=_points((SMALL_RHO,), tables, entrants, scale.runs),
            experiment=f"gaussian{letter.upper()}",
            measures=(measure, EMPIRICAL_MEAN) if measure == TRUE_MEAN else (measure,),
            log_x=x_name == "d",
        )
        for letter, title, x_name, tables, measure in made
    )


def correlated_panels(scale: Scale) -> tuple[Panel, ...]:
    """A′ and C′."""
    made = (
        ("a", "A′: random correlations, n = 4,000", correlated_a, TRUE_MEAN, "gaussianA'"),
        ("b", "C′: all correlations ½, α = 2, n = 10,000", correlated_c, EMPIRICAL_MEAN, "gaussianC'"),
    )
    return tuple(
        Panel(
            letter=letter,
            name=title.partition(":")[0],
            title=title,
            x_name="d",
            points=_points(scale.rhos, tuple((float(d), table(d)) for d in scale.dims), LARGE, scale.runs),
            experiment=experiment,
            measures=tuple(dict.fromkeys((measure, EMPIRICAL_MEAN))),
            log_x=True,
        )
        for letter, title, table, measure, experiment in made
    )


def binary_panel(scale: Scale, d: int, letter: str, *, entrants: tuple[str, ...] = BINARY) -> Panel:
    """Synthetic 0/1 rows."""
    tables = tuple((ratio, binary_rows(d, ratio)) for ratio in scale.ratios)
    return Panel(
        letter=letter,
        name=f"Binary, d = {d}",
        title=f"Binary: share α of popular columns, n = 4,096, d = {d:,}",
        x_name="α",
        points=_points(scale.rhos, tables, entrants, scale.runs),
        experiment="synthetic",
        measures=(TRUE_MEAN,),
    )


def set_panel(scale: Scale, found: Found, letter: str, *, entrants: tuple[str, ...] = BINARY) -> Panel:
    """Kosarak or POS, along ρ."""
    cells = (
        Cell(
            workload=found.rows,
            rho=rho,
            entrants=(*entrants, *REFERENCES),
            runs=scale.real_runs,
            fewer=(("iome", scale.real_iome_runs),),
        )
        for rho in scale.real_rhos
    )
    known = found.known
    return Panel(
        letter=letter,
        name=known.title.partition(":")[0],
        title=f"{known.title}, n = {known.n:,}, d = {known.d:,}",
        x_name="ρ",
        points=tuple(Point(x=float(cell.rho), line="", cell=cell) for cell in cells),
        experiment="kosarak" if "osarak" in known.file else "POS",
        measures=(EMPIRICAL_MEAN,),
        log_x=True,
        note=f"{known.title}: {known.subset}. Nothing is published for it; theirs is their code on the same rows."
        if known.subset
        else "",
    )
