"""The table of variance estimators: mean relative error on one Gaussian column."""

from plandp_lab.reproduce.cells import Cell
from plandp_lab.reproduce.entrants import ENTRANTS, SPREAD, VARIANCE, VARIANCE_ENTRANTS
from plandp_lab.reproduce.published import Place, in_the_text
from plandp_lab.reproduce.results import Results
from plandp_lab.reproduce.scale import Scale
from plandp_lab.reproduce.shown import Shown, Table, figures
from plandp_lab.reproduce.workloads import OneColumn

RHOS = ("0.001", "0.01")
VARIANCES = (0.001, 1.0)
NAMES = tuple(entrant.name for entrant in VARIANCE_ENTRANTS)


def variance_cells(scale: Scale) -> tuple[Cell, ...]:
    """The paper's four settings."""
    return tuple(
        Cell(workload=OneColumn(variance=variance), rho=rho, entrants=NAMES, runs=scale.variance_runs)
        for rho in RHOS
        for variance in VARIANCES
    )


def show_variances(results: Results, *, scale: Scale) -> Shown:
    """Means, as in the paper, which states errors of σ² but for the direct ones shows those of σ."""
    rows, orders, best = [], [], []
    for cell in variance_cells(scale):
        workload = cell.workload
        assert isinstance(workload, OneColumn)
        means: dict[str, float] = {}
        for name in NAMES:
            place = Place(experiment="variance", n=workload.n, d=1, rho=cell.rho, x=f"{workload.variance:g}")
            theirs = in_the_text(place, name)
            ours, of_spread = (results.quartiles(cell, name, measure) for measure in (VARIANCE, SPREAD))
            if ours is None or of_spread is None:
                continue
            means[name] = ours.mean
            rows.append(
                (
                    cell.rho,
                    f"{workload.variance:g}",
                    name,
                    ENTRANTS[name].meaning,
                    figures(theirs.median if theirs else None),
                    figures(ours.mean),
                    figures(of_spread.mean),
                )
            )
        if means:
            direct = min(means[name] for name in ("direct-075", "direct-0841", "direct-09"))
            orders.append([means[name] < direct for name in ("general-1", "general-4")])
            best.append(means["general-4"] <= means["general-1"])
    claims = (
        *(
            f"Pairs with k = {k} are more accurate than every direct quantile: "
            f"{_yes(sum(order[place] for order in orders), len(orders))}"
            for place, k in enumerate((1, 4))
        ),
        f"k = 4 is at least as accurate as k = 1: {_yes(sum(best), len(best))}",
    )
    head = ("ρ of the step", "σ²", "estimator", "what it is", "the paper", "ours, σ²", "ours, σ")
    return Shown(
        tables=(
            Table(
                heading=f"Mean relative error of {scale.variance_runs} runs, n = 10,000 from N(10, σ²), bounds ±100",
                rows=(head, *rows),
                note="The paper's .75 and .9 lack the factor Φ⁻¹, and its errors of direct estimators are those of σ.",
            ),
        ),
        claims=claims if orders else (),
    )


def _yes(good: int, of: int) -> str:
    return ("yes" if good == of else "NO") + f" ({good} of {of} settings)"
