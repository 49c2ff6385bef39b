"""Columns become rows: the same bits with and without the compiler, of any type, whatever the shape."""

import numpy as np
import pytest

from plandp.data import side_by_side as module
from plandp.data.side_by_side import lay_side_by_side, side_by_side


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 1), (8, 8), (9, 17), (100, 3), (3, 100)])
def test_columns_become_rows(n: int, d: int, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPILED", 0 if compiled else 10**9)
    columns = np.random.default_rng(n * d).normal(size=(d, n)) * 1e3
    columns[0, 0] = -np.nan
    rows = side_by_side(list(columns))
    assert rows.flags.c_contiguous
    assert rows.tobytes() == columns.T.tobytes()
    wider = np.zeros((n + 2, d + 3))
    lay_side_by_side([column.astype(np.float32) for column in columns], wider[1:-1, 2:-1])
    assert wider[1:-1, 2:-1].tobytes() == columns.astype(np.float32).astype(np.float64).T.tobytes()
    assert np.all(wider[:, :2] == 0)
    assert np.all(wider[[0, -1]] == 0)
