"""What a row adds is, bit for bit, a function of that row and of released values only."""

from typing import Any

import numpy as np
import pytest
from neighbouring import box, rows_of, signed_view
from one_row_alone import awkward_table, company_shows
from planted import changed

import plandp
from plandp.data import blocks
from plandp.mechanisms import norm_cells
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.lattice_counts import lattice_keys
from plandp.mechanisms.norm_cells import CellSums, NormCells


def test_sums_do_not_depend_on_the_company_of_a_row() -> None:
    assert company_shows() == []


@pytest.mark.parametrize("d", [1, 2, 5, 8, 9, 33, 128, 257])
def test_a_lattice_vector_does_not_depend_on_the_rows_beside_it(d: int) -> None:
    # Widths around the lengths at which vectorised loops and pairwise sums change their order of work.
    table = awkward_table(120, d)
    cells = NormCells.around(1.0, lowest=0.01, highest=300.0, d=d, points=2**30)
    function = CellSums(view=signed_view(d), cells=cells, squared=False, wide=False)
    with np.errstate(all="ignore"):  # as in the fold
        cell, vectors = function.lattice_vectors(table)
        for row in range(len(table)):
            alone = function.lattice_vectors(table[row : row + 1])
            assert (int(alone[0][0]), alone[1][0].tolist()) == (int(cell[row]), vectors[row].tolist())


@pytest.mark.parametrize("strangers", [(), (0,), (7, 99), (0, 1, 2, 50, 99), range(60)], ids=str)
def test_rows_on_the_usual_lattice_and_those_on_others_are_each_scaled_alone(strangers: Any) -> None:
    """NumPy scales a table by one number, or not at all, where few rows are strangers, and then those on their own."""
    not_at_all = ("    if usual != 1.0:\n        y *= usual\n", "    y *= times[0]\n")
    by_one_number = ("        y *= usual\n", "        y *= times[0]\n")
    for typical, plant in ((1.0, not_at_all), (0.125, by_one_number)):
        assert strangers_shown(norm_cells, strangers, typical) == []
        if 0 in strangers and len(strangers) < 25:
            assert strangers_shown(changed(norm_cells, plant), strangers, typical) != []


def test_rows_hardly_longer_than_the_last_edge_are_no_rows_of_the_usual_length() -> None:
    """Their numbers differ from the usual one by so little that only a fine lattice shows it."""
    assert hardly_longer_shown(norm_cells) == []
    nearly = ("np.flatnonzero(times != usual)", "np.flatnonzero(np.abs(times / usual - 1.0) > 1e-9)")
    assert hardly_longer_shown(changed(norm_cells, nearly)) != []


def hardly_longer_shown(module: Any) -> list[int]:
    """Of rows in the last cell, ten of them clipped by a share of some 10⁻¹⁰: whose vector is not what it should be."""
    cells = module.NormCells.around(1.0, lowest=0.5, highest=1.0, d=4, points=2**30)
    top, step = float(cells.edges[-1]), cells.step / float(cells.finer[-1])
    table = np.abs(np.random.default_rng(36).normal(size=(100, 4)))
    longer = np.where(np.arange(100) < 10, 1.0 + np.random.default_rng(37).uniform(1e-10, 9e-10, 100), 0.995)
    table *= (longer * top / np.sqrt((table**2).sum(axis=1)))[:, None]
    function = module.CellSums(view=signed_view(4), cells=cells, squared=False, wide=False)
    with np.errstate(all="ignore"):  # as in the fold
        _, vectors = function.lattice_vectors(table)
    norms = np.sqrt(np.add.accumulate(table**2, axis=1)[:, -1])
    assert (np.flatnonzero(norms > top) == np.arange(10)).all()
    times = np.where(norms > top, top / norms, 1.0) / step
    return np.flatnonzero((np.rint(table * times[:, None]) != vectors).any(axis=1)).tolist()


def strangers_shown(module: Any, strangers: Any, typical: float) -> list[int]:
    """The rows whose cell or lattice vector is not what it is without the other rows."""
    table = np.random.default_rng(34).uniform(0.26, 0.49, (100, 4))  # norms from .5 to 1.0 share a lattice
    table[list(strangers)] *= np.random.default_rng(35).choice([7.0, 90.0, 1e4], (len(strangers), 1))
    cells = module.NormCells.around(typical, lowest=0.01, highest=300.0, d=4, points=2**30)
    function = module.CellSums(view=signed_view(4), cells=cells, squared=False, wide=False)
    with np.errstate(all="ignore"):  # as in the fold
        cell, vectors = function.lattice_vectors(table)
        alone = [function.lattice_vectors(row[None]) for row in table]
    return [r for r, (own, vector) in enumerate(alone) if own[0] != cell[r] or (vector[0] != vectors[r]).any()]


@pytest.mark.parametrize("d", [5, 9, 33, 128, 257])
def test_norms_are_added_from_the_left_to_the_last_bit(d: int) -> None:
    assert norms_off(norm_cells, d) == 0
    if d > 8:  # shorter rows are added in the same order by all of these
        accumulated = "np.add.accumulate(y[unsure] ** 2, axis=1)[:, -1]"
        for other in ("(y * y).sum(axis=1)", "np.einsum('ij,ij->i', y, y)"):
            assert norms_off(changed(norm_cells, (accumulated, other)), d) > 0


def norms_off(module: Any, d: int) -> int:
    """How many of 200 rows have a norm that differs from a plain loop's: edges one float apart tell."""
    table = np.random.default_rng(33).normal(size=(200, d))
    off = 0
    for row in table:
        squares = 0.0
        for value in row.tolist():
            squares += value * value
        norm = np.sqrt(squares)
        cells = module.NormCells(
            edges=np.array([np.nextafter(norm, 0), norm, 2 * norm]),
            octave=np.zeros(3, np.int64),
            step=1.0,
            bounds=np.full(3, 2**20),
        )
        function = module.CellSums(view=signed_view(d), cells=cells, squared=False, wide=False)
        off += int(function.lattice_vectors(row[None])[0][0]) != 1
    return off


def test_counts_do_not_depend_on_order_or_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    table = awkward_table()
    lattice = Lattice.of(box(table.shape[1]))
    thresholds = [np.full(table.shape[1], t) for t in (1.0, 60.0, 64.0, 65.0, 127.0)]
    whole = [lattice_keys(rows_of(table), lattice, None).twice_below(t).tolist() for t in thresholds]
    alone = [
        sum(lattice_keys(rows_of(table[row : row + 1]), lattice, None).twice_below(t) for row in range(len(table)))
        for t in thresholds
    ]
    assert whole == [total.tolist() for total in alone]
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 11)
    assert whole == [lattice_keys(rows_of(table[::-1]), lattice, None).twice_below(t).tolist() for t in thresholds]


def bits(release: plandp.MeanRelease) -> tuple[bytes, ...]:
    spread = b"" if release.spread is None else release.spread.tobytes()
    return release.estimate.tobytes(), release.noise_std.tobytes(), release.center.tobytes(), spread


@pytest.mark.parametrize("method", ["plan", "unscaled", "gaussian", "mahalanobis", "iome", "coinpress", "plan-classic"])
def test_releases_are_the_same_bits_however_the_table_is_held(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    table = awkward_table(600, 4)
    named = {f"c{i}": table[:, i] for i in range(4)}

    def released(data: object) -> tuple[bytes, ...]:
        # n is below the size at which a sample is drawn, so that row numbers do not matter
        return bits(plandp.mean(data, bounds=(-50, 50), rho=8, smallest_spread=0.5, method=method, testing_seed=7))

    whole = released(table)
    shuffled = np.random.default_rng(32).permutation(len(table))
    held = {
        "shuffled": table[shuffled],
        "column-major": np.asfortranarray(table),
        "strided": np.repeat(table, 2, axis=0)[::2],
        "pandas": pandas.DataFrame(named),
        "polars": polars.DataFrame(named),
        "arrow": pyarrow.table(named),
    }
    if method == "plan-classic":  # rows are paired by their number
        del held["shuffled"]
    for data in held.values():
        assert released(data) == whole
    monkeypatch.setattr(blocks, "VALUES_PER_BLOCK", 37)
    monkeypatch.setattr(norm_cells, "TILE", 21)
    assert released(table) == whole
