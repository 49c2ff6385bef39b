"""Keys that are held and rows that are read again in every round answer alike."""

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.mechanisms import lattice_counts
from plandp.mechanisms.lattice_counts import Lattice, LatticeKeys, NarrowedKeys, ReadAgain, TalliedKeys, counted_keys
from plandp.mechanisms.sorted_keys import SortedKeys
from plandp.terms.columns import read_columns

COLUMNS = read_columns(labels=range(3), bounds=[(0, 1), (-5, 5), (0, 1000)], smallest_spread=[0.01, 0.1, 0.5])
LATTICE = Lattice.of(COLUMNS)


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


@pytest.mark.parametrize("missing", [None, np.array([0.25, 1.0, 7.0])])
@pytest.mark.parametrize("stride", [1, 2, 7])
@pytest.mark.parametrize("sent", [0, 600, 2**24], ids=["one point", "some points", "all points"])
def test_rows_elsewhere_are_counted_as_held_keys_are(table, missing, stride, sent, monkeypatch):
    held = counted_keys(open_rows(table), LATTICE, missing, stride=stride)
    monkeypatch.setattr(lattice_counts, "SENT", sent)
    away = counted_keys(Elsewhere(open_rows(table)), LATTICE, missing, stride=stride)
    assert isinstance(held, LatticeKeys)
    assert isinstance(away, TalliedKeys if sent == 2**24 else ReadAgain)
    for threshold in thresholds():
        assert away.twice_below(threshold).tolist() == held.twice_below(threshold).tolist()


@pytest.mark.parametrize("way", ["compiled", "NumPy"])
@pytest.mark.parametrize("finest", [0.1, 1e-3, 1e-10], ids=["16 bits", "32 bits", "64 bits"])
def test_keys_of_any_size_are_tallied_around_thresholds(table, finest, way, monkeypatch):
    lattice = Lattice.of(read_columns(labels=range(3), bounds=[(0, 1), (-5, 5), (0, 1000)], smallest_spread=finest))
    held = counted_keys(open_rows(table), lattice, None, stride=1)
    monkeypatch.setattr(lattice_counts, "SENT", 600)
    if way == "NumPy":
        monkeypatch.setattr(lattice_counts, "compiled", lambda loop: None)
    away = counted_keys(Elsewhere(open_rows(table)), lattice, None, stride=1)
    assert isinstance(away, ReadAgain)
    some = lattice.keys(table[:20], None)
    for row in np.where(np.isnan(some), lattice.cells, some):
        for near in (0.0, -12.0, 1.0, 13.0, 14.0):  # tallies reach from -12 to 13
            asked = np.minimum(np.maximum(row + near, 0.0), lattice.cells)
            assert away.twice_below(asked).tolist() == held.twice_below(asked).tolist()


def test_rows_elsewhere_are_read_again_where_a_threshold_is_far(table, monkeypatch):
    monkeypatch.setattr(lattice_counts, "SENT", 8 * 3 * 100)  # tallies of 100 points: 50 below a threshold, 50 above
    rows = Elsewhere(open_rows(table))
    away = counted_keys(rows, LATTICE, None, stride=1)
    for place, folds in ((60.0, 1), (60.0, 1), (110.0, 1), (10.0, 1), (111.0, 2), (61.0, 2), (60.0, 3)):
        away.twice_below(np.array([60.0, 60.0, place]))
        assert rows.folds == folds


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
