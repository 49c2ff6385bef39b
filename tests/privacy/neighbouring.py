"""Two neighbouring tables through the same code: the integer queries that reach the door, side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp.data.open import open_rows
from plandp.data.rows import Rows
from plandp.mechanisms import clipped_sum, lattice_counts, norm_cells
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.recentred import Recentred
from plandp.noise.bits import SeededBits
from plandp.noise.exponential_choice import Choices, draw_choice, largest_rate
from plandp.terms.columns import Columns, read_columns

AWKWARD = (
    *(float("nan"), float("inf"), -float("inf"), 1.7e308, -1.7e308, 1e308, -1e308),
    *(5e-324, -5e-324, 2.0**-1022, 1e-200, -1e-200, 0.0, -0.0, 2.0**63, -(2.0**63), 2.0**53 + 2),
    *(-1.0, 1.0, float(np.nextafter(1.0, 2.0)), float(np.nextafter(1.0, 0.0)), 0.5, -0.25, 1.0 / 3.0),
)


@dataclass(frozen=True)
class Query:
    """What one release was asked, before any noise."""

    step: str
    values: tuple[int, ...]
    squared_sensitivity: int
    rho: Fraction
    steps: tuple["StepFunction", ...] = ()  # of choices: the penalty of every grid point


@dataclass(frozen=True, eq=False)
class StepFunction:
    """The penalties of the grid points of one choice: `penalties[i]` up to but not including point `ends[i]`."""

    ends: NDArray[np.int64]
    penalties: NDArray[np.int64]

    def at(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.penalties[np.searchsorted(self.ends, points, side="right")]

    def furthest_from(self, other: "StepFunction") -> int:
        """How far the penalty of any grid point is from that of the same point of the other."""
        assert self.ends[-1] == other.ends[-1]  # the grid is public
        points = np.unique(np.concatenate([[0], self.ends[:-1], other.ends[:-1]]))
        points = points[points < self.ends[-1]]
        return int(np.abs(self.at(points) - other.at(points)).max())


class RecordingDoor:
    """Stands in for the metered door: notes each query; answers with noise, or by a script, whatever is asked."""

    def __init__(self, script: Sequence[NDArray[Any]] | None = None) -> None:
        self.queries: list[Query] = []
        self.answers: list[NDArray[Any]] = []
        self._script = script
        self._noise = np.random.default_rng(20)
        self._coins = np.random.default_rng(21)
        self._bits = SeededBits(22)

    def release(self, query: NDArray[Any], *, squared_sensitivity: int, rho: Fraction, step: str) -> NDArray[Any]:
        assert query.dtype == np.int64 or query.dtype == np.object_
        values = tuple(int(value) for value in query.tolist())
        self.queries.append(Query(step, values, squared_sensitivity, rho))
        if self._script is None:
            sigma = float(squared_sensitivity / (2 * rho)) ** 0.5
            answer = query.astype(object) + [round(draw) for draw in self._noise.normal(0, sigma, len(query)).tolist()]
        else:
            answer = self._script[len(self.answers)]
        self.answers.append(answer)
        return answer

    def choose(self, candidates: Choices, *, sensitivity: int, rho: Fraction, step: str) -> list[int]:
        asked = list(candidates)
        steps = tuple(StepFunction(np.cumsum(each.widths), np.asarray(each.penalties)) for each in asked)
        self.queries.append(Query(step, (), sensitivity**2, rho, steps))
        if self._script is None:
            rate = largest_rate(rho=rho, sensitivity=sensitivity, choices=len(asked))
            answer = np.array([draw_choice(each, rate, self._bits) for each in asked], dtype=object)
        else:
            answer = self._script[len(self.answers)]
        self.answers.append(answer)
        return list(answer)

    def public_integers(self, *, below: int, count: int) -> NDArray[np.int64]:
        return self._coins.integers(below, size=count)

    def public_permutation(self, count: int) -> NDArray[np.int64]:
        return self._coins.permutation(count)

    def public_normals(self, count: int) -> NDArray[np.float64]:
        return self._coins.normal(size=count)

    def public_signs(self, count: int) -> NDArray[np.int8]:
        return (1 - 2 * self._coins.integers(2, size=count)).astype(np.int8)


@np.errstate(all="ignore")  # as in mean
def moved(run: Callable[[Any, RecordingDoor], object], first: object, second: object) -> list[tuple[str, Fraction]]:
    """How far each query moves between two tables: (step, ‖Δ‖² / stated squared sensitivity), exactly.

    Of choices it is the furthest that the penalty of any grid point moves, squared, over the stated one.

    The second table gets the answers of the first, as in the proof: given equal answers, queries are compared.
    Everything but the values of the queries must be equal.
    """
    before = RecordingDoor()
    run(first, before)
    after = RecordingDoor(before.answers)
    run(second, after)
    assert len(before.queries) == len(after.queries)
    ratios = []
    for one, other in zip(before.queries, after.queries, strict=True):
        same = ("step", "squared_sensitivity", "rho")
        assert [getattr(one, name) for name in same] == [getattr(other, name) for name in same]
        squares = sum((a - b) ** 2 for a, b in zip(one.values, other.values, strict=True))
        for mine, yours in zip(one.steps, other.steps, strict=True):
            squares = max(squares, mine.furthest_from(yours) ** 2)
        ratios.append((one.step, Fraction(squares, one.squared_sensitivity)))
    return ratios


def furthest(ratios: list[tuple[str, Fraction]]) -> dict[str, Fraction]:
    """The largest ratio of each step."""
    found: dict[str, Fraction] = {}
    for step, ratio in ratios:
        found[step] = max(ratio, found.get(step, Fraction(0)))
    return found


# --- one mechanism alone, at its worst neighbours; each returns the largest ‖Δ‖² / stated squared sensitivity


def box(d: int) -> Columns:
    """Columns with the bounds (-1, 1)."""
    return read_columns(labels=tuple(range(d)), bounds=(-1, 1), smallest_spread=2.0**-5)


def rows_of(table: object) -> Rows:
    return open_rows(np.asarray(table, dtype=np.float64))


def worst_counts(module: Any = lattice_counts) -> Fraction:
    """A row below all thresholds becomes one above them; also with missing values."""
    worst = Fraction(0)
    for d in (1, 2, 7):
        lattice = Lattice.of(box(d))
        for start, replacement in ((-1.0, 1.0), (-1.0, np.nan), (1.0, np.nan)):
            for threshold in (1.0, float(lattice.cells[0]) - 1.0):

                def run(table: object, door: RecordingDoor, lattice=lattice, threshold=threshold) -> None:
                    keys = module.lattice_keys(rows_of(table), lattice, None)
                    module.private_counts_below(
                        keys, np.full(keys.keys.shape[1], threshold), door, rho=Fraction(1), step="counts"
                    )

                table = np.full((3, d), start)
                other = table.copy()
                other[1] = replacement
                worst = max(worst, furthest(moved(run, table, other))["counts"])
    return worst


def signed_view(d: int) -> Recentred:
    """y = x within (-1000, 1000)."""
    reach = np.full(d, 1000.0)
    return Recentred(low=-reach, high=reach, missing=None, center=np.zeros(d), factor=np.ones(d))


def worst_sum(*, nonnegative: bool, sums: Any = clipped_sum, cells_module: Any = norm_cells) -> Fraction:
    """Rows as long as each cell allows, against their opposite (or, without signs, against a right angle)."""
    worst = Fraction(0)
    for d, points in ((2, 2**20), (9, 2**6)):
        cells = cells_module.NormCells.around(1.0, lowest=0.4, highest=2.5, d=d, points=points)
        longest_rows = [*cells.edges[::3].tolist(), float(cells.edges[-1]), 100.0]
        for radius_cell in (0, 45, len(cells.edges) - 1):

            def run(table: object, door: RecordingDoor, cells=cells, radius_cell=radius_cell, d=d) -> None:
                totals = cells_module.cell_totals(rows_of(table), signed_view(d), cells, squared=nonnegative)
                sums.private_clipped_sum(
                    totals, radius_cell, door, rho=Fraction(1), step="sum", nonnegative=nonnegative
                )

            for length in longest_rows:
                entry = length**0.5 if nonnegative else length
                table = np.zeros((2, d))
                table[0, 0] = entry
                other = np.zeros((2, d))
                if nonnegative:
                    other[0, 1] = entry
                else:
                    other[0, 0] = -entry
                worst = max(worst, furthest(moved(run, table, other))["sum"])
    return worst


def worst_endless(cells_module: Any = norm_cells) -> Fraction:
    """A row that leaves float64 when it is stretched, against rows that do not."""
    cells = cells_module.NormCells.around(1.0, lowest=0.5, highest=2.0, d=2, points=2**20)
    view = Recentred(
        low=np.full(2, -2.0), high=np.full(2, 2.0), missing=None, center=np.zeros(2), factor=np.array([1.7e308, 1.0])
    )

    def run(table: object, door: RecordingDoor) -> None:
        totals = cells_module.cell_totals(rows_of(table), view, cells)
        for radius_cell in range(len(cells.edges)):
            clipped_sum.private_clipped_sum(totals, radius_cell, door, rho=Fraction(1), step="sum")

    rows = [[2.0, 0.0], [-2.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    return max(furthest(moved(run, [first], [second]))["sum"] for first in rows for second in rows)
