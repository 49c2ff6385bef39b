"""Quantiles by their definition: small tables, ties, missing values, both ends; and the stated rank error."""

from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.errors import ArgumentError
from plandp.kernels.compiler import compiled
from plandp.mechanisms import quantiles
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.quantiles import BinarySearch, ExponentialMechanism, Quantile, rank_distances
from plandp.mechanisms.ranked import HeldKeys
from plandp.noise.meter import open_door

PLENTY = Fraction(10**9)  # so much that the noise is nearly always 0


def lattice_of(*cells: int, low: float = 0.0, high: float = 1.0) -> Lattice:
    """From `low` to `high` in these numbers of cells, one per column."""
    many = np.array(cells, np.float64)
    return Lattice(low=np.full(len(cells), low), high=np.full(len(cells), high), step=(high - low) / many, cells=many)


def found(quantile: Any, values: object, lattice: Lattice, share: float, **rank: Any) -> list[float]:
    """The quantile at a budget at which there is next to no noise."""
    ranked = HeldKeys.of_values(np.array(values, np.float64), lattice, **rank)
    door = open_door(reserved=PLENTY, testing_seed=5)
    answer = quantile(ranked, share, door, rho=PLENTY, step="quantile")
    assert door.spent == PLENTY
    return [float(value) for value in answer]


def by_definition(column: Any, cells: int, share: float) -> int:
    """The first cell up to which `share` of all numbers lie, missing ones half here and half there."""
    present = [min(int(x * cells), cells - 1) for x in column if not np.isnan(x)]
    missing = len(column) - len(present)
    for cell in range(cells):
        if 2 * sum(key <= cell for key in present) + missing >= 2 * share * len(column):
            return cell
    return cells - 1


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.75, 0.9, 1.0])
@pytest.mark.parametrize("cells", [(2, 2), (8, 8), (3, 64), (1, 1000)])
def test_binary_search_finds_the_cell_of_the_definition(share: float, cells: tuple[int, int]) -> None:
    rng = np.random.default_rng(91)
    lattice = lattice_of(*cells)
    for n in (1, 2, 5, 40):
        values = rng.choice([0.0, 0.1, 0.5, 0.62, 0.99, 1.0, np.nan], (n, 2))
        expected = [by_definition(values[:, c], cells[c], share) for c in range(2)]
        ends = [(cell + 1) / most for cell, most in zip(expected, cells, strict=True)]
        middles = [(cell + 0.5) / most for cell, most in zip(expected, cells, strict=True)]
        assert found(BinarySearch(answer="upper end"), values, lattice, share) == pytest.approx(ends)
        assert found(BinarySearch(), values, lattice, share) == pytest.approx(middles)


@pytest.mark.parametrize(
    "values", [[[0.3]], [[0.3]] * 9, [[np.nan]] * 9, [[np.inf], [-np.inf], [np.nan]], [[1e308], [-1e308], [5e-324]]]
)
def test_no_values_are_too_strange(values: object) -> None:
    ways: tuple[Quantile, ...] = (BinarySearch(), ExponentialMechanism())
    for way in ways:
        for share in (0.0, 0.5, 1.0):
            (value,) = found(way, values, lattice_of(16), share)
            assert 0.0 < value < 1.0


def test_held_keys_of_rows_and_of_values_are_the_same() -> None:
    values = np.random.default_rng(92).choice([-1.0, 0.1, 0.5, 2.0, np.nan], (30, 3))
    lattice = lattice_of(7, 16, 2**40)
    rows, numbers = HeldKeys.of_rows(open_rows(values), lattice, None), HeldKeys.of_values(values, lattice)
    np.testing.assert_array_equal(rows.held.keys, numbers.held.keys)
    np.testing.assert_array_equal(rows.held.missing, numbers.held.missing)
    assert rows.held.keys.dtype == numbers.held.keys.dtype
    assert (rows.count, rows.copies) == (30, 1)


def test_the_search_pays_in_equal_rounds_for_all_copies() -> None:
    ranked = HeldKeys.of_values(np.full((4, 3), 0.5), lattice_of(4, 64, 2), copies=5)
    door = open_door(reserved=Fraction(1, 3), testing_seed=6)
    BinarySearch()(ranked, 0.5, door, rho=Fraction(1, 3), step="median")
    assert [(p.step, p.rho, p.squared_sensitivity, p.values) for p in door.payments] == [
        ("median", Fraction(1, 18), 4 * 3 * 25, 3)
    ] * 6
    assert door.remaining == 0


def test_odd_arguments_are_refused() -> None:
    ranked = HeldKeys.of_values(np.full((4, 1), 0.5), lattice_of(4))
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ArgumentError, match="share"):
            BinarySearch()(ranked, share, open_door(reserved=PLENTY), rho=PLENTY, step="x")
    with pytest.raises(ArgumentError, match="answer"):
        BinarySearch(answer="lower end")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="copies"):
        HeldKeys.of_values(np.full((4, 1), 0.5), lattice_of(4), copies=0)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_the_rank_error_of_the_binary_search_holds(share: float) -> None:
    """In 400 runs of 8 columns the bound for β = .1 fails in at most 60: false alarm below 1e-3 if it failed in 40.

    Power: it really fails in fewer, and noise of twice the standard deviation makes it fail in most runs.
    """
    cells, n, rho, d = 256, 2000, Fraction(1, 20), 8
    rng = np.random.default_rng(93)
    values = rng.uniform(0.0, 1.0, (n, d))
    ranked = HeldKeys.of_values(values, lattice_of(*[cells] * d))
    door = open_door(reserved=Fraction(400) * rho, testing_seed=7)
    bound = BinarySearch().rank_error(cells=cells, columns=d, rho=float(rho), failure=0.1)
    assert bound == pytest.approx(np.sqrt(d * 8 / 2 * 20) * -NormalDist().inv_cdf(0.1 / (8 * d)))
    wrong = 0
    for _ in range(400):
        cell = np.floor(BinarySearch()(ranked, share, door, rho=rho, step="q") * cells)
        low, high = ranked.twice_below(cell) / 2, ranked.twice_below(cell + 1.0) / 2
        wrong += bool(np.any(np.maximum(low - share * n, share * n - high) > bound))
    assert wrong <= 60


@pytest.mark.parametrize("way", ["compiled", "plain Python", "NumPy"])
def test_distances_are_those_of_the_definition(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = {"compiled": compiled, "plain Python": lambda loop: loop, "NumPy": lambda loop: None}
    monkeypatch.setattr(quantiles, "compiled", ways[way])
    rng = np.random.default_rng(94)
    for _ in range(300):
        cells, n = int(rng.integers(1, 12)), int(rng.integers(1, 12))
        wanted = int(rng.integers(0, 2 * n + 1))
        keys = np.sort(rng.integers(0, cells + 1, n)).astype(np.int64)  # `cells` itself is missing
        missing = int((keys == cells).sum())
        expected = []
        for cell in range(cells):
            low, high = (2 * int(there.sum()) + missing for there in (keys < cell, keys <= cell))
            expected.append(max(0, low - wanted, wanted - high))
        candidates = rank_distances(keys, cells, wanted)
        assert np.repeat(candidates.penalties, candidates.widths).tolist() == expected
        assert len(candidates.penalties) == 2 * n + 1
        penalties, widths = np.empty(2 * n + 1, np.int64), np.empty(2 * n + 1, np.int64)
        quantiles._write_distances(keys, cells, missing, wanted, penalties, widths)
        assert candidates.penalties.tolist() == penalties.tolist()  # of no cells, too
        assert candidates.widths.tolist() == widths.tolist()


@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_a_choice_without_noise_is_right_where_the_definition_is(share: float) -> None:
    rng = np.random.default_rng(95)
    values = rng.choice([0.1, 0.3, 0.3, 0.62, 0.99], (41, 2))
    lattice = lattice_of(100, 7)
    middles = found(ExponentialMechanism(), values, lattice, share)
    for column, cells, middle in zip(values.T, (100, 7), middles, strict=True):
        cell = int(middle * cells)
        below, upto = ((column * cells).astype(int) < cell).sum(), ((column * cells).astype(int) <= cell).sum()
        assert below <= share * 41 + 0.5
        assert upto >= share * 41 - 0.5


def test_a_choice_pays_once_for_all_columns_and_copies() -> None:
    ranked = HeldKeys.of_values(np.full((4, 3), 0.5), lattice_of(4, 64, 2), copies=5)
    door = open_door(reserved=Fraction(1, 3), testing_seed=6)
    ExponentialMechanism()(ranked, 0.5, door, rho=Fraction(1, 3), step="median")
    (payment,) = door.payments
    assert (payment.rho, payment.squared_sensitivity, payment.values) == (Fraction(1, 3), 3 * 100, 3)
    assert payment.mechanism == "exponential mechanism"


def test_the_rank_error_of_the_choice_holds() -> None:
    """In 100 runs of 4 columns the bound for β = .1 fails in at most 25: false alarm below 1e-5 if it failed in 10.

    Power: twice the noise would make it fail in most runs, since the bound is within a factor 2 of what is seen.
    """
    cells, n, rho, d = 256, 2000, Fraction(1, 20), 4
    ranked = HeldKeys.of_values(np.random.default_rng(96).uniform(0.45, 0.55, (n, d)), lattice_of(*[cells] * d))
    door = open_door(reserved=Fraction(100) * rho, testing_seed=8)
    bound = ExponentialMechanism().rank_error(cells=cells, columns=d, rho=float(rho), failure=0.1)
    assert bound == pytest.approx(np.sqrt(d * 10) * np.log(d * cells / 0.1))
    off = []
    for _ in range(100):
        cell = np.floor(ExponentialMechanism()(ranked, 0.5, door, rho=rho, step="q") * cells)
        low, high = ranked.twice_below(cell) / 2, ranked.twice_below(cell + 1.0) / 2
        off.append(float(np.maximum(low - n / 2, n / 2 - high).max()))
    assert sum(each > bound for each in off) <= 25
    assert max(off) > bound / 4
