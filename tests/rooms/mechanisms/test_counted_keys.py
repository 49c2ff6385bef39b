"""Keys that are held and rows that are read again in every round answer alike."""

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.mechanisms import lattice_counts
from plandp.mechanisms.lattice_counts import Lattice, LatticeKeys, ReadAgain, TalliedKeys, counted_keys
from plandp.terms.columns import read_columns

COLUMNS = read_columns(labels=range(3), bounds=[(0, 1), (-5, 5), (0, 1000)], smallest_spread=[0.01, 0.1, 0.5])
LATTICE = Lattice.of(COLUMNS)


class Elsewhere:
    """Rows that cannot be brought to this process; they remember how often they were read."""

    ordered = False

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
def test_rows_elsewhere_are_counted_as_held_keys_are(table, missing, stride):
    held = counted_keys(open_rows(table), LATTICE, missing, stride=stride)
    again = counted_keys(Elsewhere(open_rows(table)), LATTICE, missing, stride=stride)
    assert isinstance(held, LatticeKeys)
    assert isinstance(again, ReadAgain)
    for threshold in thresholds():
        assert again.twice_below(threshold).tolist() == held.twice_below(threshold).tolist()


def test_every_round_reads_the_rows_once(table):
    rows = Elsewhere(open_rows(table))
    again = counted_keys(rows, LATTICE, None, stride=1)
    for threshold in thresholds():
        again.twice_below(threshold)
    assert rows.folds == len(thresholds())


def test_keys_that_would_take_too_much_memory_are_not_held(table, monkeypatch):
    size = len(table) * 3 * 2  # 2,000 cells at most: two bytes each
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


def test_tallies_are_made_where_they_are_small(table, monkeypatch):
    monkeypatch.setattr(lattice_counts, "TALLIED", 4 * 4001 * 3 / (1003 * 3 * 2) - 1e-9)
    assert isinstance(counted_keys(open_rows(table), LATTICE, None, stride=1), LatticeKeys)
