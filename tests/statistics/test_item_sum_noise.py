"""The noise of sparse sums has the standard deviation that is stated, column by column."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from scipy.stats import kstest

import plandp
from plandp.data.open_sparse import open_sparse_rows
from plandp.mechanisms.item_rows import ItemLattice, private_group_sum, private_item_sum
from plandp.noise.meter import open_door

COLUMNS = 40_000
NORMAL_TAIL = 4.9  # standard deviations: passed by chance once in a million, both sides together


def check_law(z: np.ndarray) -> None:
    """Independent standard normals: mean, variance and shape.  False alarms: below 3e-6 for each call.

    40,000 draws see 3% more or less noise with a chance of 99.9%.
    """
    assert abs(z.mean()) < NORMAL_TAIL / np.sqrt(len(z))
    assert abs((z**2).mean() - 1.0) < NORMAL_TAIL * np.sqrt(2.0 / len(z))
    assert kstest(z, "norm").pvalue > 1e-6


def rows_of(d: int) -> tuple[np.ndarray, object]:
    rng = np.random.default_rng(90)
    table = scipy.sparse.random_array((30, d), density=0.01, rng=rng, format="csr")
    table.data[:] = rng.integers(1, 4, len(table.data))
    return np.asarray(table.sum(axis=0)), table


@pytest.mark.parametrize("planted", [1.0, 0.97])
@pytest.mark.parametrize("binary", [True, False])
def test_the_noise_of_a_sum_is_what_is_stated(binary: bool, planted: float) -> None:
    totals, table = rows_of(COLUMNS)
    if binary:
        totals = np.asarray((table != 0).sum(axis=0))
    lattice = ItemLattice.of(np.geomspace(50.0, 5000.0, COLUMNS), high=np.full(COLUMNS, 5.0), n=30)
    door = open_door(reserved=Fraction(1), testing_seed=91)
    released = private_item_sum(
        open_sparse_rows(table, binary=binary), lattice, 1e6, door, rho=Fraction(1), step="sum"
    )  # a radius that clips nobody
    z = (released.total - totals) / (released.noise_std * planted)
    if planted == 1.0:
        check_law(z)
        assert released.noise_std[0] * lattice.weights[0] == pytest.approx(1e6)  # √2·R / √(2ρ)
    else:
        with pytest.raises(AssertionError):
            check_law(z)


def test_the_noise_of_groups_is_what_is_stated() -> None:
    # groups are few: many releases, of other seeds
    table = scipy.sparse.csr_array(np.eye(6))
    lattice, group = ItemLattice.of(np.full(6, 300.0), high=np.ones(6), n=6), np.arange(6)
    rows = open_sparse_rows(table, binary=True)
    z = []
    for seed in range(1500):
        door = open_door(reserved=Fraction(1, 3), testing_seed=seed)
        released = private_group_sum(
            rows, lattice, group, np.full(6, 300.0), 1000.0, door, rho=Fraction(1, 3), step="groups"
        )
        z.append((released.total - 1.0) / released.noise_std)
    assert released.noise_std[0] * 300.0 == pytest.approx(1000.0 * 3**0.5)
    check_law(np.concatenate(z))


@pytest.mark.parametrize("kind", ["binary", "nonnegative"])
def test_the_noise_of_a_whole_release_is_what_it_says(kind: str) -> None:
    # Rows without items: nothing is clipped, and all that is released of the second look is its noise.
    nothing = scipy.sparse.csr_array((50, COLUMNS))
    release = plandp.mean(
        nothing, kind=kind, bounds=(0, 1) if kind == "binary" else (0, 7), rho=1, refine=(), testing_seed=92
    )
    check_law(release.estimate / release.noise_std)
