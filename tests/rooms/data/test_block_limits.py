"""However many columns there are, a block has few enough rows to be counted in 32 bits, and items fit their type."""

import numpy as np
import pytest
import scipy.sparse as sp

from plandp.data import person_rows
from plandp.data.open_sparse import open_sparse_rows
from plandp.data.person_rows import PersonRows, group_events
from plandp.data.stored_rows import MOST_ROWS, cut_rows


def empty_rows(n: int) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """Where n rows without entries begin, in no memory."""
    return np.broadcast_to(np.zeros(1, np.int8), (n + 1,))


def test_no_stretch_has_more_rows_than_32_bits_count() -> None:
    n = 5 * 2**30 // 2
    stretches = list(cut_rows(empty_rows(n), 2**40))
    assert [first for first, _ in stretches] == [0, 2**30, 2**31]
    assert stretches[-1][1] == n
    assert MOST_ROWS < 2**31


def test_no_stretch_has_more_rows_than_asked_of_it() -> None:
    assert list(cut_rows(empty_rows(10), 2**40, rows=4)) == [(0, 4), (4, 8), (8, 10)]
    assert list(cut_rows(empty_rows(10), 6, rows=2**30)) == [(0, 6), (6, 10)]


def test_blocks_of_a_matrix_have_few_rows_unless_there_are_many_columns() -> None:
    for d, rows in ((1, 2**18), (2**15, 2**19)):
        blocks = open_sparse_rows(sp.csr_array((2**19 + 5, d)), binary=True).blocks()
        assert [len(block.begin) - 1 for block in blocks][:2] == [rows, min(rows, 2**19 + 5 - rows)]


def test_no_block_of_people_has_more_rows_than_asked_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(person_rows, "MOST_ROWS", 8)
    nobody = np.empty(0, np.int64)
    rows = group_events(nobody, nobody, None, n=20, d=3, count=False)
    assert [len(block.begin) - 1 for block in rows.blocks()] == [8, 8, 4]


def test_items_beyond_32_bits_keep_their_place() -> None:
    d = 2**33
    rows: PersonRows = group_events(np.array([0, 1]), np.array([d - 1, 5]), None, n=2, d=d, count=False)
    assert rows.items.tolist() == [d - 1, 5]
