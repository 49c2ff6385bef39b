"""Each mechanism alone, at its own ρ: the exact Rényi divergence of its answers on neighbouring tables.

Its noise is a discrete Gaussian of known σ² around an integer query, or it chooses by penalties at a known rate: so the
divergence follows from how far query or penalties move and from the σ² or rate that was really asked for; nothing is
estimated, and there are no false alarms.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from plandp.audit.choices import choice_divergence, content, squared_distance
from plandp.audit.clock import Clock
from plandp.audit.finding import Finding
from plandp.audit.plan import AuditPlan
from plandp.audit.renyi import exact_rho, shifted_divergence
from plandp.audit.watching import kind_and_place
from plandp.data.compressed_rows import CompressedRows
from plandp.data.open import open_rows
from plandp.data.sparse_rows import SparseBlock
from plandp.mechanisms import clipped_sum, item_rows, lattice_counts, norm_cells, quantiles, ranked, tail_cell
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.read_again import ReadAgain
from plandp.mechanisms.recentred import Recentred
from plandp.noise.watched import Asked, WatchedDoor
from plandp.terms.columns import read_columns
from plandp.theory.bisection import MedianPosterior
from plandp.theory.search_stage import Stage

Row = Mapping[int, float]  # of items: from column to value

ORDERS = (1.001, 1.5, 2.5, 7.5)  # between whole orders the divergence is below αρ, and is summed up to see it
ROUNDING = 1e-9
SUMMED = 1 << 22  # σ² up to which that is done


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Attack:
    """A mechanism with its public arguments, and the rows that stand in turn beside a fixed one."""

    mechanism: str
    name: str
    rows: Sequence[Any]
    ask: Callable[[Any, Any, Fraction], object]  # row, door, ρ


@dataclass(frozen=True, kw_only=True)
class Mechanisms:
    """Is the divergence between the answers on neighbouring tables at most what was paid?"""

    name: str = "mechanisms"

    def run(self, plan: AuditPlan) -> Finding:
        """Attack every mechanism at the whole ρ and, while there is time, at other ones."""
        clock = Clock(seconds=plan.seconds)
        most: dict[str, Fraction] = {}
        problems: dict[str, None] = {}
        runs = 0
        for number in clock.rounds():
            rho = plan.rho / (1, 1000, 7, Fraction(1, 50))[number % 4]
            for attack in attacks(number):
                if number and clock.left < 0:
                    break
                share, problem = paid_and_lost(attack, rho)
                most[attack.mechanism] = max(share, most.get(attack.mechanism, Fraction(0)))
                problems.update(dict.fromkeys(problem))
                runs += len(attack.rows)
        shares = ", ".join(f"{name} {float(share):.4f}" for name, share in most.items())
        broken = ", ".join(name for name in most if any(problem.startswith(f"{name}, ") for problem in problems))
        return Finding(
            name=self.name,
            claim="at every order α each mechanism loses at most α times the ρ that it pays",
            found=f"BROKEN: {broken}" if problems else f"at most {float(max(most.values())):.6f} of what is paid",
            broken=bool(problems),
            detail="\n".join(list(problems)[:8]) if problems else f"largest exact ρ over what was paid: {shares}",
            false_alarm=0.0,
            runs=runs,
        )


@np.errstate(all="ignore")  # as in the front doors
def paid_and_lost(attack: Attack, rho: Fraction) -> tuple[Fraction, list[str]]:
    """The largest exact ρ between two of the rows over what was paid, and what is wrong with it."""
    where = f"{attack.mechanism}, {attack.name}, rho = {float(rho):.3g}"
    queries: dict[object, tuple[int, Asked]] = {}
    sigma2 = stated = None
    for place, row in enumerate(attack.rows):
        door = WatchedDoor(reserved=rho, seed=1)
        try:
            attack.ask(row, door, rho)
        except Exception as error:  # no row may raise, whatever it is
            return Fraction(0), [f"{where}: row {place} raised {kind_and_place(error)}"]
        # a choice at rate c tells as much as a query with noise of variance 1/c²
        draws = [*door.watched.drawn, *((count, 1 / rate**2) for count, rate in door.chosen)]
        if len(door.asked) != 1 or len(draws) != 1 or door.spent != rho:
            return Fraction(0), [f"{where}: {len(door.asked)} queries, {len(draws)} draws, {door.spent} paid of {rho}"]
        (asked,), ((count, variance),) = door.asked, draws
        if (asked.squared_sensitivity, variance) != (stated or asked.squared_sensitivity, sigma2 or variance):
            return Fraction(0), [f"{where}: row {place} decides how much noise there is"]
        if count != asked.query.size or not asked.noise_added:
            return Fraction(0), [f"{where}: not every value got its noise"]
        stated, sigma2 = asked.squared_sensitivity, variance
        queries.setdefault(content(asked), (place, asked))
    assert sigma2 is not None
    found = [
        (exact_rho(squared_distance(one, other), sigma2), (first, second))
        for (first, one), (second, other) in combinations(queries.values(), 2)
    ]
    worst, places = max(found, default=(Fraction(0), (0, 0)))
    one, other = (next(asked for place, asked in queries.values() if place == wanted) for wanted in places)
    problems = []
    if worst > rho:
        problems.append(
            f"{where}: loses {float(worst / rho):.4f} times what it pays, between rows {places[0]} and {places[1]}"
        )
    elif sigma2 <= SUMMED:
        for alpha in ORDERS:
            lost = _divergence(one, other, sigma2, alpha)
            if lost > alpha * float(rho) * (1.0 + ROUNDING) + ROUNDING:
                problems.append(f"{where}: loses {lost / alpha / float(rho):.4f} times what it pays at order {alpha}")
    return worst / rho, problems


def _divergence(one: Asked, other: Asked, sigma2: Fraction, alpha: float) -> float:
    """D_α of the answers to two neighbours' queries, summed up in floats."""
    if one.candidates:
        rate = Fraction(float(1 / sigma2) ** 0.5)
        return choice_divergence(one.candidates, other.candidates, rate, alpha)
    values = zip(one.query.ravel().tolist(), other.query.ravel().tolist(), strict=True)
    return sum(shifted_divergence(abs(int(a) - int(b)), float(sigma2), alpha) for a, b in values)


def attacks(number: int) -> Iterator[Attack]:
    """All mechanisms at their worst neighbours; later rounds have other shapes."""
    yield from _counts(number)
    yield from _quantiles(number)
    yield from _norms()
    yield from _sums(number, squared=False)
    yield from _sums(number, squared=True)
    yield _endless()
    for binary, squared in ((True, False), (False, False), (False, True)):
        yield from _item_sums(number, binary=binary, squared=squared)
    for binary in (True, False):
        yield from _group_sums(number, binary=binary)


# --- dense rows; a second row keeps the first company


def _rows(row: Any) -> Any:
    row = np.asarray(row, dtype=np.float64)
    return open_rows(np.stack([row, np.full_like(row, 0.25)]))


def _counts(number: int) -> Iterator[Attack]:
    for d in (1, 2, 7, 3 + number):
        columns = read_columns(labels=tuple(range(d)), bounds=(-1, 1), smallest_spread=2.0**-5)
        lattice = Lattice.of(columns)
        for threshold in (1.0, float(lattice.cells[0]) // 2, float(lattice.cells[0]) - 1.0):

            def ask(row: Any, door: Any, rho: Fraction, lattice: Any = lattice, threshold: float = threshold) -> None:
                keys = lattice_counts.lattice_keys(_rows(row), lattice, None)
                at = np.full(keys.keys.shape[1], threshold)
                lattice_counts.private_counts_below(keys, at, door, rho=rho, step="counts")

            values = (-1.0, 1.0, np.nan, 0.0, np.inf, -np.inf, 1.7e308, np.nextafter(1.0, 0.0))
            rows = [np.full(d, value) for value in values] + [np.where(np.arange(d) % 2, 1.0, -1.0)]
            yield Attack(mechanism="counts below", name=f"d = {d}, threshold {threshold:g}", rows=rows, ask=ask)

            def ask_again(
                row: Any, door: Any, rho: Fraction, lattice: Any = lattice, threshold: float = threshold
            ) -> None:
                stage = Stage.of(MedianPosterior.uniform(lattice.cells), 9)
                keys = ReadAgain(rows=_rows(row), lattice=lattice, missing=None).within(stage)
                at = stage.nearest(np.full(len(lattice.cells), threshold))
                lattice_counts.private_counts_below(keys, at, door, rho=rho, step="counts")

            yield Attack(
                mechanism="counts below", name=f"d = {d}, near {threshold:g}, read again", rows=rows, ask=ask_again
            )


def _quantiles(number: int) -> Iterator[Attack]:
    for d, cells, copies in ((1, 2, 1), (3, 2, 3), (1, 64, 1), (4, 1000, 3), (2 + number, 2**20, 1 + number)):
        lattice = Lattice(
            low=np.full(d, -1.0), high=np.ones(d), step=np.full(d, 2.0 / cells), cells=np.full(d, float(cells))
        )
        ways: dict[str, Any] = {"quantile by choice": quantiles.ExponentialMechanism()}
        if cells == 2:  # one round: one query
            ways["quantile by search"] = quantiles.BinarySearch()
        for (name, quantile), share in product(ways.items(), (0.5, 0.9)):

            def ask(
                row: Any,
                door: Any,
                rho: Fraction,
                quantile: Any = quantile,
                share: float = share,
                public: Any = lattice,
                copies: int = copies,
            ) -> None:
                values = np.repeat(np.stack([row, np.full_like(row, 0.25)]), copies, axis=0)
                ranks = ranked.HeldKeys.of_values(values, public, copies=copies)
                quantile(ranks, share, door, rho=rho, step="quantile")

            values = (-1.0, 1.0, np.nan, 0.25, np.inf, -np.inf, 1.7e308, np.nextafter(0.25, 0.0))
            rows = [np.full(d, value) for value in values] + [np.where(np.arange(d) % 2, 1.0, -1.0)]
            yield Attack(mechanism=name, name=f"d = {d}, {cells} cells, {copies} copies, {share}", rows=rows, ask=ask)


def _view(d: int) -> Recentred:
    """y = x within (-1000, 1000)."""
    reach = np.full(d, 1000.0)
    return Recentred(low=-reach, high=reach, missing=None, center=np.zeros(d), factor=np.ones(d))


def _norms() -> Iterator[Attack]:
    cells = norm_cells.NormCells.around(1.0, lowest=0.5, highest=4.0, d=2, points=2**20)
    rows = [np.zeros(2), np.array([900.0, 0.0]), np.array([1.0, 0.0]), np.full(2, np.nan), np.full(2, np.inf)]

    def tail(row: Any, door: Any, rho: Fraction) -> None:
        norms = norm_cells.cell_totals(_rows(row), _view(2), cells).norms
        flat = np.ones(len(cells.edges))
        shares = (Fraction(1),)
        tail_cell.private_tail_cell(norms, door, prior=flat, tail=1.0, shares=shares, rho=rho, step="tail")

    def above(row: Any, door: Any, rho: Fraction) -> None:
        norms = norm_cells.cell_totals(_rows(row), _view(2), cells).norms
        tail_cell.private_rows_above(norms, len(cells.edges) // 2, door, rho=rho, step="above")

    yield Attack(mechanism="counts by norm", name="rows up to an edge", rows=rows, ask=tail)
    yield Attack(mechanism="counts by norm", name="rows above an edge", rows=rows, ask=above)


def _sums(number: int, *, squared: bool) -> Iterator[Attack]:
    for d, points in ((2, 2**20), (9, 2**6), (4 + 5 * number, 2 ** (8 + number % 22))):
        cells = norm_cells.NormCells.around(1.0, lowest=0.4, highest=2.5, d=d, points=points)
        for radius in sorted({0, 42, 45 + number, len(cells.edges) - 1} & set(range(len(cells.edges)))):

            def ask(row: Any, door: Any, rho: Fraction, cells: Any = cells, radius: int = radius, d: int = d) -> None:
                totals = norm_cells.cell_totals(_rows(row), _view(d), cells, squared=squared)
                clipped_sum.private_clipped_sum(totals, radius, door, rho=rho, step="sum", nonnegative=squared)

            yield Attack(
                mechanism="clipped sum of squares" if squared else "clipped sum",
                name=f"d = {d}, {points} points, cell {radius}",
                rows=list(_at_the_edges(d, points, cells.edges, radius, squared)),
                ask=ask,
            )


def _at_the_edges(d: int, points: int, edges: Any, radius: int, squared: bool) -> Iterator[Any]:
    """Rows as long as a cell allows and a hair longer, along axes and diagonals, and between lattice points."""
    signs = np.where(np.arange(d) % 2, -1.0, 1.0)
    axes = np.eye(1, d)[0], np.eye(1, d, d - 1)[0], np.ones(d) / np.sqrt(d), signs / np.sqrt(d)
    for length in (edges[0], edges[radius], np.nextafter(edges[radius], 9.0), edges[-1], 100.0):
        for axis in axes:
            for row in (axis * length, -axis * length):
                yield np.sign(row) * np.sqrt(np.abs(row)) if squared else row
    step = 1.0 / points
    half = np.floor(edges[radius] / np.sqrt(d) / step) * step + step / 2.0  # every coordinate is rounded, the same way
    for row in (np.full(d, half), np.full(d, -half), np.full(d, np.nan), np.full(d, 5e-324)):
        yield np.sqrt(np.abs(row)) if squared else row


def _endless() -> Attack:
    """Rows that leave float64 when they are stretched."""
    cells = norm_cells.NormCells.around(1.0, lowest=0.5, highest=2.0, d=2, points=2**20)
    reach, factor = np.full(2, 2.0), np.array([1.7e308, 1.0])
    view = Recentred(low=-reach, high=reach, missing=None, center=np.zeros(2), factor=factor)

    def ask(row: Any, door: Any, rho: Fraction) -> None:
        totals = norm_cells.cell_totals(_rows(row), view, cells)
        clipped_sum.private_clipped_sum(totals, len(cells.edges) - 1, door, rho=rho, step="sum")

    rows = [[2.0, 0.0], [-2.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [np.inf, np.nan]]
    return Attack(mechanism="clipped sum", name="rows without end", rows=rows, ask=ask)


# --- rows of items


def _item_source(row: Row, *, d: int, binary: bool) -> Any:
    rows: list[Row] = [row, {0: 1.0}]
    begin = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    items = np.array([item for held in rows for item in held], np.int32)
    values = None if binary else np.array([value for held in rows for value in held.values()], np.float64)
    block = SparseBlock(begin=begin, items=items, values=values)
    return CompressedRows(n=2, labels=tuple(range(d)), blocks=partial(iter, [block]))


def _item_sums(number: int, *, binary: bool, squared: bool) -> Iterator[Attack]:
    name = "item sum, " + ("items" if binary else "squares" if squared else "values")
    shapes = [(2, 5, 5), (2, 2**29 - 1, 2**29), (8, 1000, 1000), (64, 7, 40), (3 + number, 11, 50)]
    if not binary:
        shapes.append((4, 2**70, 2**20))  # values of a tiny unit: one of them is more than any entry can be
    for d, weight, radius in shapes:
        weights = np.full(d, float(weight))
        if d == 64:  # 24² + 32² = 40²: exactly at the radius, and one point beyond
            weights[[0, 1, 2, 40, 41, 42]] = [24.0, 32.0, 1.0] * 2
        high = np.full(d, 1.0 if binary else 1e300)
        lattice = item_rows.ItemLattice.of(weights, high=high, n=2, squared=squared, values=not binary)

        def ask(row: Row, door: Any, rho: Fraction, lattice: Any = lattice, radius: int = radius, d: int = d) -> None:
            source = _item_source(row, d=d, binary=binary)
            item_rows.private_item_sum(source, lattice, float(radius), door, rho=rho, step="sum")

        rows = _rows_of_items(d, radius / weight, (radius + 1) / weight, binary=binary, squared=squared)
        yield Attack(mechanism=name, name=f"d = {d}, radius {radius}", rows=rows, ask=ask)
        if not binary or d == 64:
            continue
        # counts of rows by norm, of the same lattice
        middle = len(lattice.cells[1]) // 40

        def count(row: Row, door: Any, rho: Fraction, lattice: Any = lattice, cell: int = middle, d: int = d) -> None:
            norms = item_rows.norm_counts(_item_source(row, d=d, binary=binary), lattice)
            tail_cell.private_rows_above(norms, cell, door, rho=rho, step="norms")

        yield Attack(mechanism="items by norm", name=f"d = {d}", rows=rows, ask=count)


def _rows_of_items(d: int, fits: float, beyond: float, *, binary: bool, squared: bool) -> list[Row]:
    """No items, some, all; as far as the radius, a point beyond, and without end."""
    half = d // 2
    sets = [range(0), range(half), range(half, d), range(d), range(1), range(d - 1, d)]
    sets += [range(min(2, d)), range(min(3, d)), range(min(40, d - 1), min(42, d)), range(min(40, d - 1), min(43, d))]
    rows: list[Row] = [dict.fromkeys(items, 1.0) for items in sets]
    if not binary:
        reach, over = (fits**0.5, beyond**0.5) if squared else (fits, beyond)
        for value in (reach, over, 1e300, float("inf"), 5e-324):
            rows += [{0: value}, {d - 1: value}, dict.fromkeys(range(half, d), value), dict.fromkeys(range(d), value)]
    return rows


def _group_sums(number: int, *, binary: bool) -> Iterator[Attack]:
    for d, weight, radius in ((2, 6, 6), (3, 5, 5), (64, 2**27 - 1, 2**20), (64, 3, 64), (70 + number, 1, 1)):
        group = (np.arange(d) * 3 // d).astype(np.int64) if d > 2 else np.arange(d)
        high = np.full(d, 1.0 if binary else 1e300)
        lattice = item_rows.ItemLattice.of(np.full(d, float(weight)), high=high, n=2)

        def ask(
            row: Row,
            door: Any,
            rho: Fraction,
            lattice: Any = lattice,
            group: Any = group,
            radius: int = radius,
            d: int = d,
        ) -> None:
            weights = np.full(int(group.max()) + 1, float(lattice.weights[0]))
            source = _item_source(row, d=d, binary=binary)
            item_rows.private_group_sum(source, lattice, group, weights, float(radius), door, rho=rho, step="groups")

        rows = _rows_of_items(d, radius / weight, (radius + 1) / weight, binary=binary, squared=False)
        kind = "items" if binary else "values"
        yield Attack(mechanism="group sum", name=f"{kind}, d = {d}, radius {radius}", rows=rows, ask=ask)
