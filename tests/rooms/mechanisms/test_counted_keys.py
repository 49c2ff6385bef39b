"""Keys that are held and rows that are read again in every round answer alike."""

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.kernels import point_tallies
from plandp.mechanisms import lattice_counts, read_again
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.lattice_counts import LatticeKeys, NarrowedKeys, TalliedKeys, counted_keys
from plandp.mechanisms.read_again import ReadAgain, TallyBetween
from plandp.mechanisms.sorted_keys import SortedKeys
from plandp.terms.columns import read_columns
from plandp.theory.bisection import MedianPosterior
from plandp.theory.search_stage import Stage

COLUMNS = read_columns(labels=range(3), bounds=[(0, 1), (-5, 5), (0, 1000)], smallest_spread=[0.01, 0.1, 0.5])
LATTICE = Lattice.of(COLUMNS)


class SomePoints:
    """A stage with these points."""

    def __init__(self, points):
        self._points = points

    def points(self):
        return self._points


class Elsewhere:
    """Rows that cannot be brought to this process; they remember how often they were read."""

    ordered = near = False

    def __init__(self, rows):
        self._rows, self.folds = rows, 0
        self.n, self.d = rows.n, rows.d

    def fold(self, function):
        self.folds += 1
        return self._rows.fold(function)

    def sample(self, indices):
        return Elsewhere(self._rows.sample(indices))


@pytest.fixture
def table():
    rng = np.random.default_rng(8)
    values = rng.normal([0.5, 0, 400], [0.3, 3, 200], (1003, 3))
    values[rng.random(values.shape) < 0.1] = np.nan
    values[rng.random(values.shape) < 0.02] = np.inf
    return values


def thresholds():
    rng = np.random.default_rng(9)
    return [np.zeros(3), LATTICE.cells, *(np.floor(rng.random(3) * LATTICE.cells) for _ in range(20))]


def stages_of(lattice, d, *, count, rounds=6):
    """Stages from all over a search whose answers are chance."""
    rng, posterior = np.random.default_rng(10), MedianPosterior.uniform(lattice.cells)
    for _ in range(rounds):
        yield Stage.of(posterior, count)
        for _ in range(4):
            posterior = posterior.updated(posterior.next_threshold(), rng.normal(0.0, 2.0, d))


@pytest.mark.parametrize("missing", [None, np.array([0.25, 1.0, 7.0])])
@pytest.mark.parametrize("stride", [1, 2, 7])
def test_rows_elsewhere_are_counted_as_held_keys_are(table, missing, stride, monkeypatch):
    held = counted_keys(open_rows(table), LATTICE, missing, stride=stride)
    sent = counted_keys(Elsewhere(open_rows(table)), LATTICE, missing, stride=stride)
    assert isinstance(held, LatticeKeys)
    assert isinstance(sent, TalliedKeys)
    for threshold in thresholds():
        assert sent.twice_below(threshold).tolist() == held.twice_below(threshold).tolist()
    monkeypatch.setattr(lattice_counts, "SENT", 0)
    away = counted_keys(Elsewhere(open_rows(table)), LATTICE, missing, stride=stride)
    assert isinstance(away, ReadAgain)
    for stage in stages_of(LATTICE, 3, count=37):
        tallied = away.within(stage)
        for threshold in stage.points().T:
            assert tallied.twice_below(threshold).tolist() == held.twice_below(threshold).tolist()


@pytest.mark.parametrize("way", ["compiled", "NumPy"])
@pytest.mark.parametrize("finest", [0.1, 1e-3, 1e-10], ids=["16 bits", "32 bits", "64 bits"])
@pytest.mark.parametrize("count", [1, 2, 63, 64, 300])
def test_keys_of_any_size_are_counted_below_all_points(table, finest, way, count, monkeypatch):
    lattice = Lattice.of(read_columns(labels=range(3), bounds=[(0, 1), (-5, 5), (0, 1000)], smallest_spread=finest))
    held = counted_keys(open_rows(table), lattice, None, stride=1)
    monkeypatch.setattr(lattice_counts, "SENT", 0)
    if way == "NumPy":
        monkeypatch.setattr(read_again, "compiled", lambda loop: None)
    away = counted_keys(Elsewhere(open_rows(table)), lattice, None, stride=1)
    assert isinstance(away, ReadAgain)
    some = lattice.keys(table[:count], None)
    some[np.isnan(some)] = 17.0
    for near in (0.0, 1.0):  # where keys are, and next to them: those at a point are not below it
        points = np.sort(np.minimum(np.maximum(some.T + near, 1.0), lattice.cells[:, None] - 1.0), axis=1)
        stage = SomePoints(points)
        tallied = away.within(stage)
        for threshold in points.T:
            assert tallied.twice_below(threshold).tolist() == held.twice_below(threshold).tolist()


@pytest.mark.parametrize("way", ["compiled", "NumPy"])
def test_counts_between_points_of_many_columns_and_rows(way, monkeypatch):
    if way == "NumPy":
        monkeypatch.setattr(read_again, "compiled", lambda loop: None)
    # more than the loop works on at a time, and no multiple of it
    rows, d, rng = 2 * point_tallies.ROWS + 3, 2 * point_tallies.COLUMNS + 5, np.random.default_rng(15)
    values = rng.normal(0.0, 3.0, (rows, d))
    values[rng.random(values.shape) < 0.1] = np.nan
    lattice = Lattice.of(read_columns(labels=range(d), bounds=(-9, 9), smallest_spread=1e-4))
    points = np.sort(np.floor(rng.uniform(1.0, lattice.cells[0], (d, 500))), axis=1)
    held = counted_keys(open_rows(values), lattice, None, stride=1)
    assert isinstance(held, LatticeKeys)
    for chosen in (None, np.sort(rng.permutation(rows)[: point_tallies.ROWS + 1])):
        function = TallyBetween(lattice=lattice, missing=None, points=points, kind=np.int32)
        sums = function(np.empty((0, d)))
        function.add_to(sums, values, chosen)
        function.add_to(sums, values[:0], None)
        function.add_to(sums, values, np.empty(0, np.int64))
        keys = held.keys if chosen is None else held.keys[chosen]
        for place in (0, 1, 250, 499):
            below = np.cumsum(sums[0], axis=1)[:, place]
            assert below.tolist() == (keys < points[:, place]).sum(axis=0).tolist()
        assert sums[0].sum() == keys.size
        assert sums[1].tolist() == (keys == lattice.cells).sum(axis=0).tolist()


class SomeSums:
    """So many rows that nobody has: they answer with sums of their own, and remember what they were asked."""

    ordered = near = False

    def __init__(self, n, sums):
        self.n, self.d, self._sums = n, 1, sums

    def fold(self, function):
        self.asked = function
        return tuple(
            np.array(sums, own.dtype) for sums, own in zip(self._sums, function(np.empty((0, 1))), strict=True)
        )


@pytest.mark.parametrize("n", [2**31 - 1, 2**31, 2**40])
def test_counts_have_room_for_as_many_rows_as_there_are(n):
    lattice = Lattice.of(read_columns(labels=range(1), bounds=(-9, 9), smallest_spread=1e-4))
    rows = SomeSums(n, ([[n - 5, 3, 2]], [0]))
    tallied = ReadAgain(rows=rows, lattice=lattice, missing=None).within(SomePoints(np.array([[5.0, 8.0]])))
    assert np.iinfo(rows.asked.kind).max >= n
    assert tallied.twice_below(np.array([5.0])).tolist() == [2 * (n - 5)]
    assert tallied.twice_below(np.array([8.0])).tolist() == [2 * (n - 2)]


@pytest.mark.parametrize("way", ["compiled", "NumPy"])
def test_very_many_values_between_two_points_are_counted(way, monkeypatch):
    if way == "NumPy":
        monkeypatch.setattr(read_again, "compiled", lambda loop: None)
    values = np.full((70_000, 1), 2.5)
    lattice = Lattice.of(read_columns(labels=range(1), bounds=(-9, 9), smallest_spread=1e-4))
    keys = ReadAgain(rows=open_rows(values), lattice=lattice, missing=None)
    points = lattice.keys(np.array([[2.5]]), None) + np.array([[-1.0, 0.0, 1.0, 2.0]])
    tallied = keys.within(SomePoints(points))
    assert [int(tallied.twice_below(point)[0]) for point in points.T] == [0, 0, 140_000, 140_000]


@pytest.mark.parametrize("way", ["compiled", "NumPy"])
@pytest.mark.parametrize(("high", "finest"), [(100.0, 0.2), (1.0, 0.012), (3.0, 0.7)])
def test_values_at_lattice_points_have_the_keys_of_the_lattice(high, finest, way, monkeypatch):
    # (x - low)·(1/step) would put some of them into the cell below
    if way == "NumPy":
        monkeypatch.setattr(read_again, "compiled", lambda loop: None)
    lattice = Lattice.of(read_columns(labels=range(1), bounds=(0, high), smallest_spread=finest))
    values = np.arange(lattice.cells[0])[:, None] * lattice.step
    found = lattice.keys(values, None)
    moved = np.floor(values * (1.0 / lattice.step)) != found
    assert moved.any() or high == 3.0
    tallied = ReadAgain(rows=open_rows(values), lattice=lattice, missing=None).within(
        SomePoints(np.arange(1.0, lattice.cells[0])[None])
    )
    for point in np.arange(1.0, lattice.cells[0]):
        assert tallied.twice_below(np.array([point])).tolist() == [2 * int((found < point).sum())]


def test_a_threshold_that_is_no_point_is_not_answered(table):
    keys = ReadAgain(rows=open_rows(table), lattice=LATTICE, missing=None)
    tallied = keys.within(SomePoints(np.array([[2.0, 5.0]] * 3)))
    with pytest.raises(ValueError, match="none of the points"):
        tallied.twice_below(np.array([2.0, 5.0, 4.0]))


def test_a_stage_reads_rows_once(table, monkeypatch):
    monkeypatch.setattr(lattice_counts, "SENT", 0)
    rows = Elsewhere(open_rows(table))
    away = counted_keys(rows, LATTICE, None, stride=1)
    for number, stage in enumerate(stages_of(LATTICE, 3, count=37)):
        assert rows.folds == number
        tallied = away.within(stage)
        for threshold in stage.points().T:
            tallied.twice_below(threshold)
        assert rows.folds == number + 1


def test_small_tallies_are_brought_from_elsewhere_once(table):
    rows = Elsewhere(open_rows(table))
    away = counted_keys(rows, LATTICE, None, stride=1)
    for threshold in thresholds():
        away.twice_below(threshold)
    assert rows.folds == 1


def test_keys_that_would_take_too_much_memory_are_not_held(table, monkeypatch):
    size = len(table) * 3 * 2  # 2,000 cells at most: two bytes each
    monkeypatch.setattr(lattice_counts, "SENT", 100)
    monkeypatch.setattr(lattice_counts, "HELD", size)
    assert isinstance(counted_keys(open_rows(table), LATTICE, None, stride=1), LatticeKeys)
    monkeypatch.setattr(lattice_counts, "HELD", size - 1)
    assert isinstance(counted_keys(open_rows(table), LATTICE, None, stride=1), ReadAgain)
    assert isinstance(counted_keys(open_rows(table), LATTICE, None, stride=2), LatticeKeys)


@pytest.mark.parametrize("missing", [None, np.array([0.25, 1.0, 7.0])])
def test_tallies_answer_as_keys_do(table, missing, monkeypatch):
    held = counted_keys(open_rows(table), LATTICE, missing, stride=2)
    size = 502 * 3 * 2  # bytes of keys
    monkeypatch.setattr(lattice_counts, "TALLIED", 4 * 4001 * 3 / size)  # 4,000 cells at most
    tallied = counted_keys(open_rows(table), LATTICE, missing, stride=2)
    assert isinstance(held, LatticeKeys)
    assert isinstance(tallied, TalliedKeys)
    for threshold in [*thresholds(), np.full(3, 300.0), np.full(3, LATTICE.cells.max())]:  # beyond a column's cells too
        assert tallied.twice_below(threshold).tolist() == held.twice_below(threshold).tolist()


@pytest.mark.parametrize("cells", [200, 191, 192, 193], ids=["blocks", "full", "one more for missing values", "two"])
def test_tallies_answer_at_every_point(cells, monkeypatch):
    lattice = Lattice.of(read_columns(labels=range(2), bounds=(0, cells), smallest_spread=2.0))
    assert lattice.cells.tolist() == [cells, cells]
    values = cells * np.random.default_rng(3).beta([0.3, 5.0], [0.3, 0.5], (400, 2))
    values[::9, 1] = np.nan
    values[::80, 0] = np.nan
    rows = open_rows(values)
    monkeypatch.setattr(lattice_counts, "TALLIED", 0)
    held = counted_keys(rows, lattice, None, stride=1)
    monkeypatch.setattr(lattice_counts, "TALLIED", np.inf)
    tallied = counted_keys(rows, lattice, None, stride=1)
    assert isinstance(tallied, TalliedKeys)
    assert isinstance(held, LatticeKeys)
    for point in range(cells + 1):
        asked = np.array([point, (point * 7) % (cells + 1)], float)
        assert tallied.twice_below(asked).tolist() == held.twice_below(asked).tolist()
    for beyond in (-1.0, 256.0, 257.0, 1e9):
        expected = [5, 45] if beyond < 0 else [2 * 395 + 5, 2 * 355 + 45]
        assert tallied.twice_below(np.full(2, beyond)).tolist() == expected


def test_tallies_are_made_where_they_are_small(table, monkeypatch):
    monkeypatch.setattr(lattice_counts, "TALLIED", 4 * 4001 * 3 / (1003 * 3 * 2) - 1e-9)
    assert isinstance(counted_keys(open_rows(table), LATTICE, None, stride=1), LatticeKeys)


@pytest.mark.parametrize("smallest", [0.5, 0.001, 1e-10], ids=["16 bits", "32 bits", "64 bits"])
@pytest.mark.parametrize("rows", [1, 2, 63, 64, 65, 1000])
def test_keys_in_order_answer_as_all_keys_do(rows, smallest, monkeypatch):
    d, rng = 7, np.random.default_rng(14)
    values = rng.normal(rng.normal(0, 50, d), 3.0, (rows, d))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[:, 0], values[:, 1] = 3.0, np.nan
    lattice = Lattice.of(read_columns(labels=range(d), bounds=(-500, 500), smallest_spread=smallest))
    held = counted_keys(open_rows(values), lattice, None, stride=1)
    monkeypatch.setattr(lattice_counts, "TALLIED", 0)
    monkeypatch.setattr(lattice_counts, "compiled", lambda loop: None)
    ordered = counted_keys(open_rows(values), lattice, None, stride=1)
    assert isinstance(ordered, SortedKeys)
    points = np.floor((np.nan_to_num(values[rng.integers(rows, size=40)]) + 500.0) / lattice.step)
    for at in (np.zeros(d), lattice.cells, lattice.cells + 1.0, *points, *(points + 1.0)):
        assert ordered.twice_below(at).tolist() == held.twice_below(at).tolist()


@pytest.mark.parametrize("smallest", [0.5, 0.001, 1e-10], ids=["16 bits", "32 bits", "64 bits"])
def test_keys_are_put_in_order_where_they_lie(smallest, monkeypatch):
    # else they would take their size in memory once more, and 1 GB would not do
    made, of = [], SortedKeys.of
    monkeypatch.setattr(lattice_counts, "TALLIED", 0)
    monkeypatch.setattr(lattice_counts, "compiled", lambda loop: None)
    monkeypatch.setattr(SortedKeys, "of", lambda keys, missing: made.append((keys, of(keys, missing))) or made[-1][1])
    lattice = Lattice.of(read_columns(labels=range(5), bounds=(-500, 500), smallest_spread=smallest))
    counted_keys(open_rows(np.random.default_rng(1).normal(0, 9, (300, 5))), lattice, None, stride=1)
    ((keys, ordered),) = made
    assert np.shares_memory(keys, ordered.columns)


@pytest.mark.parametrize("smallest", [0.5, 0.001], ids=["16 bits", "32 bits"])
def test_keys_around_a_search_answer_as_all_keys_do(smallest, monkeypatch):
    d, rng = 70, np.random.default_rng(12)
    values = rng.normal(rng.normal(0, 50, d), 3.0, (400, d))
    values[rng.random(values.shape) < 0.05] = np.nan
    lattice = Lattice.of(read_columns(labels=range(d), bounds=(-500, 500), smallest_spread=smallest))
    held = counted_keys(open_rows(values), lattice, None, stride=1)
    monkeypatch.setattr(lattice_counts, "NARROWED", 0)
    monkeypatch.setattr(lattice_counts, "WINDOW", 40)
    narrowed = counted_keys(open_rows(values), lattice, None, stride=1)
    assert isinstance(held, LatticeKeys)
    assert isinstance(narrowed, NarrowedKeys)
    tallies, tally = [], NarrowedKeys._tally
    monkeypatch.setattr(NarrowedKeys, "_tally", lambda keys, at: (tallies.append(at), tally(keys, at)))
    middle = np.floor((np.nanmedian(values, axis=0) + 500.0) / lattice.step)
    # a search that comes near, one column that leaves, all that leave, and stay near elsewhere
    for number, reach in enumerate((4000.0, 300.0, 5.0, 5.0, 1.0, 9.0, 19.0, 21.0, 5.0, 500.0, 2.0, 2.0, 2.0)):
        around = middle if number < 10 else middle + 100.0
        at = np.clip(np.floor(around + rng.uniform(-reach, reach, d)), 0.0, lattice.cells)
        at[int(reach) % d] = 0.0 if reach == 1.0 else at[int(reach) % d]
        assert narrowed.twice_below(at).tolist() == held.twice_below(at).tolist()
    assert len(tallies) == 2
    assert narrowed.twice_below(lattice.cells).tolist() == held.twice_below(lattice.cells).tolist()
