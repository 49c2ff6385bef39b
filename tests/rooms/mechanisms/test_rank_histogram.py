"""Counts between edges are those of NumPy, compiled and as plain Python, whether edges are evenly apart or not."""

from typing import Any

import numpy as np
import pytest

from plandp.kernels.compiler import compiled
from plandp.kernels.rank_histogram import count_between, count_evenly
from plandp.mechanisms import rank_histogram
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.rank_histogram import RankHistogram, as_read, search_edges

D = 6


def table() -> Any:
    values = np.random.default_rng(3).normal(0.0, 3.0, (300, D))
    values[::7, 0], values[5], values[6, :3] = np.nan, np.inf, [-np.inf, 8.0, -8.0]
    return values


def lattice_of(cells: float) -> Lattice:
    many = np.full(D, cells)
    return Lattice(low=np.full(D, -8.0), high=np.full(D, 8.0), step=16.0 / many, cells=many)


def histogram(cells: float, rounds: int, begin: float, end: float, missing: float | None = None) -> RankHistogram:
    ends = np.full(D, begin), np.full(D, end)
    edges = search_edges(*ends, np.floor((ends[0] + ends[1]) / 2.0), rounds=rounds)
    stand_in = None if missing is None else np.full(D, missing)
    return RankHistogram(view=as_read, lattice=lattice_of(cells), missing=stand_in, edges=edges)


@pytest.mark.parametrize("missing", [None, 1.25])
@pytest.mark.parametrize(
    ("cells", "rounds", "begin", "end", "even"),
    [
        (2.0**20, 5, 0.0, 2.0**20, True),
        (2.0**20, 1, 0.0, 2.0**20, True),
        (2.0**20, 7, 2.0**19, 2.0**19 + 2.0**7, True),  # down to single cells
        (2.0**20, 9, 2.0**19, 2.0**19 + 2.0**7, False),  # edges are repeated
        (2.0**50, 12, 0.0, 2.0**50, True),
        (1000.0, 4, 0.0, 1000.0, False),
        (1024.0, 2, 0.0, 12.0, False),  # three apart
    ],
)
def test_every_way_counts_the_same(
    cells: float,
    rounds: int,
    begin: float,
    end: float,
    even: bool,
    missing: float | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = histogram(cells, rounds, begin, end, missing)
    assert (asked.even is not None) == even
    answers = []
    for way in (compiled, lambda loop: loop, lambda loop: None):
        monkeypatch.setattr(rank_histogram, "compiled", way)
        with np.errstate(all="ignore"):
            answers.append(asked(table()))
    for other in answers[1:]:
        for one, same in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
    assert (answers[0][0].sum(axis=1) + answers[0][1] == 300).all()


def test_rows_are_added_tile_by_tile_and_by_number(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, rows = histogram(2.0**20, 5, 0.0, 2.0**20), table()
    whole = asked(rows)
    monkeypatch.setattr(rank_histogram, "TILE", 7 * D)
    sums = asked(rows[:0])
    asked.add_to(sums, rows, np.arange(0, 300, 2))
    asked.add_to(sums, rows[1::2], None)
    for one, same in zip(whole, sums, strict=True):
        np.testing.assert_array_equal(one, same)


def test_both_loops_are_compiled_where_there_is_a_compiler() -> None:
    pytest.importorskip("numba")
    assert compiled(count_between) is not None
    assert compiled(count_evenly) is not None
