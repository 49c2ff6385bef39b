from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.mechanisms import lattice_counts
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.lattice_counts import LatticeKeys, counted_keys, lattice_keys, private_counts_below
from plandp.noise.meter import open_door
from plandp.terms.columns import read_columns


def columns_of(d: int, smallest: float, **arguments: Any) -> Any:
    return read_columns(labels=range(d), bounds=(-2, 6), smallest_spread=smallest, **arguments)


@pytest.mark.parametrize(
    ("exponent", "dtype"), [(-1, np.uint16), (-12, np.int32), (-20, np.int32), (-28, np.int64), (-42, np.int64)]
)
def test_keys_are_the_cells_of_the_values(exponent: int, dtype: type) -> None:
    lattice = Lattice.of(columns_of(1, 2.0**exponent))
    cells = int(lattice.cells[0])
    assert cells == 2 * 8 * 2**-exponent
    inside = 8 * Fraction(5, cells) - 2  # the lower end of cell 5
    values = [-np.inf, -2.0, float(inside), float(inside) - 2.0**-45, 6.0, 7.0, np.inf, np.nan]
    keys = lattice_keys(open_rows(np.array(values)), lattice, None)
    assert keys.keys.dtype == dtype
    assert keys.keys.ravel().tolist() == [0, 0, 5, 4, cells - 1, cells - 1, cells - 1, cells]
    assert keys.missing.tolist() == [1]


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 100])
@pytest.mark.parametrize("public_missing", [None, 1.25])
def test_counts_are_those_of_a_plain_loop(n: int, public_missing: float | None) -> None:
    rng = np.random.default_rng(71)
    table = rng.choice([-np.inf, -2.0, -1.9, 0.0, 1.0, 1.25, 5.9, 6.0, 99.0, np.nan], (n, 3))
    lattice = Lattice.of(columns_of(3, 0.25))
    missing = None if public_missing is None else np.full(3, public_missing)
    keys = lattice_keys(open_rows(table), lattice, missing)
    for threshold in (0.0, 1.0, 26.0, 27.0, 32.0, 63.0, 64.0, 90.0):
        expected = []
        for column in table.T.tolist():
            twice = 0
            for x in column:
                if np.isnan(x) and public_missing is None:
                    twice += 1
                    continue
                x = public_missing if np.isnan(x) else min(max(x, -2.0), 6.0)
                twice += 2 * (min(int((x + 2.0) / 0.125), 63) < threshold)
            expected.append(twice)
        assert keys.twice_below(np.full(3, threshold)).tolist() == expected


def test_positions_lead_back_into_the_box() -> None:
    lattice = Lattice.of(columns_of(2, 0.25))
    assert lattice.point(np.array([0.0, 64.0])).tolist() == [-2.0, 6.0]
    assert lattice.point(np.array([16.0, -5.0])).tolist() == [0.0, -2.0]


def test_a_noisy_count_is_paid_for_and_near_the_true_one() -> None:
    rng = np.random.default_rng(72)
    lattice = Lattice.of(columns_of(4, 0.25))
    keys = lattice_keys(open_rows(rng.uniform(-2, 6, (1000, 4))), lattice, None)
    door = open_door(reserved=Fraction(2), testing_seed=73)
    threshold = np.full(4, 32.0)
    noisy = private_counts_below(keys, threshold, door, rho=Fraction(2), step="center")
    assert [(p.step, p.rho, p.squared_sensitivity, p.values) for p in door.payments] == [("center", 2, 16, 4)]
    # The standard deviation is √(4·4/(2·2))/2 = 1; false alarm below 4 · 2e-9.
    assert np.abs(noisy - keys.twice_below(threshold) / 2).max() < 6


@pytest.mark.parametrize("stride", [1, 2, 3, 7])
def test_every_so_many_rows_are_read_by_number_whatever_the_blocks(
    stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = np.random.default_rng(74).uniform(-2, 6, (50, 2))
    lattice = Lattice.of(columns_of(2, 0.25))
    monkeypatch.setattr(lattice_counts, "TALLIED", 0)
    expected = lattice_keys(open_rows(table[::stride]), lattice, None).keys
    for per_block in (1, 6, 14, 1000):
        monkeypatch.setattr("plandp.data.blocks.VALUES_PER_BLOCK", per_block)
        found = counted_keys(open_rows(table), lattice, None, stride=stride)
        assert isinstance(found, LatticeKeys)
        np.testing.assert_array_equal(found.keys, expected)


def test_counts_of_more_rows_than_are_counted_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    table = (np.arange(2**21 + 5.0) % 4.0)[:, None]  # two full parts of the compiled loop, and five rows
    lattice = Lattice.of(columns_of(1, 0.25))
    keys = lattice_keys(open_rows(table), lattice, None)
    expected = [2 * int((table < 2.0).sum())]
    assert keys.twice_below(np.floor((2.0 - lattice.low) / lattice.step)).tolist() == expected
    monkeypatch.setattr(lattice_counts, "compiled", lambda loop: None)
    assert keys.twice_below(np.floor((2.0 - lattice.low) / lattice.step)).tolist() == expected
