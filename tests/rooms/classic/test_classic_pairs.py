"""Variances from pairs of rows: which rows are paired, what their sums are, and what their median is divided by."""

from fractions import Fraction

import numpy as np
import pytest

import plandp
from plandp.classic import BinarySearch, ExponentialMechanism, Pairs, pairs
from plandp.classic.pairs import group_sums
from plandp.classic.spread import SpreadSearch
from plandp.data import blocks
from plandp.data.open import open_rows
from plandp.kernels.compiler import compiled
from plandp.noise.meter import open_door
from plandp.planner.classic import classic_design
from plandp.terms.columns import Columns, read_columns

RNG = np.random.default_rng(1)


def columns_of(d: int, **arguments: object) -> Columns:
    return read_columns(labels=range(d), bounds=(-100, 100), **arguments)  # type: ignore[arg-type]


def slow_sums(table: np.ndarray, order: np.ndarray, k: int) -> np.ndarray:
    """Algorithm 2, line by line: groups of 2k rows, pairs of neighbours within a group."""
    sums = []
    for group in range(len(table) // (2 * k)):
        rows = table[order[2 * k * group : 2 * k * (group + 1)]]
        sums.append(sum((rows[2 * j] - rows[2 * j + 1]) ** 2 / 2 for j in range(k)))
    return np.array(sums).reshape(-1, table.shape[1])


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("values_per_block", [3, 10**6])
def test_sums_are_those_of_algorithm_2(k: int, values_per_block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", values_per_block)
    table = RNG.normal(0, 5, (37, 3))
    orders = [RNG.permutation(37), RNG.permutation(37)]
    found = group_sums(open_rows(table), orders, k, columns_of(3))
    np.testing.assert_allclose(found, np.concatenate([slow_sums(table, order, k) for order in orders]), rtol=1e-12)


def test_a_row_is_in_one_group_of_every_order_and_in_no_other() -> None:
    table = RNG.normal(0, 5, (24, 2))
    other = table.copy()
    other[5] += 1.0
    orders = [RNG.permutation(24) for _ in range(3)]
    before, after = (group_sums(open_rows(rows), orders, 2, columns_of(2)) for rows in (table, other))
    changed = before != after
    assert changed.reshape(3, 6, 2).sum(axis=1).tolist() == [[1, 1]] * 3


def test_values_are_clipped_counted_in_units_and_missing_ones_stay_missing() -> None:
    table = np.array([[1e300, 3.0], [-np.inf, np.nan]])
    order = [np.array([0, 1])]
    found = group_sums(open_rows(table), order, 1, columns_of(2, error_scale=[10.0, 1.0]))
    np.testing.assert_array_equal(found, [[20.0**2 / 2, np.nan]])
    found = group_sums(open_rows(table), order, 1, columns_of(2, missing=1.0))
    np.testing.assert_array_equal(found, [[200.0**2 / 2, 2.0]])


def test_what_a_median_is_divided_by() -> None:
    from scipy.stats import chi2

    for k in (1, 2, 4, 16):
        assert Pairs(groups=k).median_of_sum == pytest.approx(chi2.median(k))
        assert Pairs(groups=k, median="wilson-hilferty").median_of_sum == pytest.approx(k * (1 - 2 / (9 * k)) ** 3)
        assert Pairs(groups=k, median="none").median_of_sum == k
    assert Pairs().median_of_sum == pytest.approx(0.454936, abs=1e-6)
    assert Pairs(median="wilson-hilferty").median_of_sum == pytest.approx((7 / 9) ** 3)
    assert Pairs(median="as printed").median_of_sum == pytest.approx((9 / 7) ** 3)


def estimated(part: Pairs, *, quantile: object, n: int = 6000, rho: int = 200) -> np.ndarray:
    """σ̂²/σ² of 30 Gaussian columns."""
    rng = np.random.default_rng(2)
    spread = np.geomspace(0.2, 20, 30)
    table = rng.normal(5, spread, (n, 30))
    design = classic_design(n=n, columns=columns_of(30), rho=Fraction(rho), error_norm=2.0)
    door = open_door(reserved=design.split.rho, testing_seed=3)
    finest = np.full(30, 0.01)
    search = SpreadSearch(center=None, finest=finest, quantile=quantile, design=design, noise=door)  # type: ignore[arg-type]
    found = part(open_rows(table), search)
    assert door.spent == design.split.spread
    return (found / spread) ** 2


@pytest.mark.parametrize("quantile", [ExponentialMechanism(), BinarySearch()], ids=["exponential", "search"])
@pytest.mark.parametrize(
    ("part", "off"),
    [
        (Pairs(), 1.0),
        (Pairs(groups=4), 1.0),
        (Pairs(copies=2), 1.0),
        (Pairs(median="wilson-hilferty"), 0.454936 / (7 / 9) ** 3),
        (Pairs(median="as printed"), 0.454936 / (9 / 7) ** 3),
        (Pairs(median="none"), 0.454936),
        (Pairs(groups=4, median="none"), 3.356694 / 4),
    ],
    ids=str,
)
def test_variances_of_gaussian_columns_are_found_up_to_the_factor(part: Pairs, off: float, quantile: object) -> None:
    # 30 medians of 750 to 6000 numbers: their mean is off by more than 5% in fewer than one seed of a thousand, and
    # the factors are further apart than that but for Wilson–Hilferty's, which is 3% off
    assert np.mean(estimated(part, quantile=quantile)) == pytest.approx(off, rel=0.05)


def test_too_few_rows_for_a_group_still_pay_and_answer() -> None:
    found = estimated(Pairs(groups=1000), quantile=ExponentialMechanism(), n=30)
    assert np.isfinite(found).all()


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [({"groups": 0}, "groups"), ({"copies": 1.0}, "copies"), ({"median": "mean"}, "median")],
    ids=str,
)
def test_what_is_no_part_is_refused(arguments: dict, argument: str) -> None:
    with pytest.raises(plandp.ArgumentError, match=f"^{argument}: must be"):
        Pairs(**arguments)


@pytest.mark.parametrize("missing", [None, 0.5])
@pytest.mark.parametrize("k", [1, 3])
def test_sums_of_groups_are_the_same_bits_every_way(
    k: int, missing: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(14)
    table = rng.normal(0.0, 30.0, (101, 5))
    table[::9, 0], table[4], table[5], table[6] = np.nan, np.inf, -np.inf, -0.0
    columns = read_columns(labels=range(5), bounds=(-50, 40), missing=missing, smallest_spread=0.1)
    orders = [rng.permutation(101) for _ in range(2)]
    found = []
    for way in (compiled, lambda loop: loop, lambda loop: None):
        monkeypatch.setattr(pairs, "compiled", way)
        with np.errstate(all="ignore"):
            found.append(pairs.group_sums(open_rows(table), orders, k, columns))
    assert found[0].shape == (2 * (101 // (2 * k)), 5)
    known = [np.where(np.isnan(sums), 9.0, sums) for sums in found]  # a NaN is missing, whatever its bits
    assert known[0].tobytes() == known[1].tobytes() == known[2].tobytes()
    assert (known[0] == 9.0).any() == (missing is None)
