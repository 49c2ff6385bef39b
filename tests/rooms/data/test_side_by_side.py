"""Columns become rows: the same bits with and without the compiler, of any type, whatever the shape."""

import numpy as np
import pandas as pd
import pytest

from plandp.data import side_by_side as module
from plandp.data.array import open_array
from plandp.data.containers import open_container
from plandp.data.side_by_side import columns_in_memory, columns_of_array, lay_side_by_side, side_by_side

SHAPES = [(1, 1), (7, 1), (8, 8), (9, 17), (100, 3), (3, 100), (512, 16)]


@pytest.fixture(params=[True, False], ids=["compiled", "NumPy"])
def compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(module, "COMPILED", 0 if request.param else 10**9)
    return bool(request.param)


def some_columns(n: int, d: int) -> np.ndarray:
    columns = np.random.default_rng(n * d).normal(size=(d, n)) * 1e3
    columns[0, 0] = -np.nan
    return columns


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_columns_become_rows(n: int, d: int) -> None:
    columns = some_columns(n, d)
    rows = side_by_side(list(columns))
    assert rows.flags.c_contiguous
    assert rows.tobytes() == columns.T.tobytes()
    wider = np.zeros((n + 2, d + 3))
    lay_side_by_side([column.astype(np.float32) for column in columns], wider[1:-1], place=2)
    assert wider[1:-1, 2:-1].tobytes() == columns.astype(np.float32).astype(np.float64).T.tobytes()
    assert np.all(wider[:, :2] == 0)
    assert np.all(wider[:, -1] == 0)
    assert np.all(wider[[0, -1]] == 0)


@pytest.mark.parametrize(("n", "d"), SHAPES)
def test_arrays_by_column(n: int, d: int, compiled: bool) -> None:
    columns = some_columns(n, 2 * d)
    padded = np.vstack([columns.T[:1], columns.T, columns.T[:1]])
    in_order = np.asfortranarray(padded)
    for array in (in_order, in_order[1:-1], in_order[::2], in_order[:, :: 2 * d - 1], in_order[:, ::-1], padded):
        for positions in (None, [array.shape[1] - 1, 0]):
            table = open_array(array, positions)
            wanted = array if positions is None else array[:, positions]
            some = np.arange(0, len(array), 3)
            assert table.read(slice(1, len(array))).tobytes() == wanted[1:].tobytes()
            assert table.read(some).tobytes() == wanted[some].tobytes()
    assert (columns_of_array(in_order[1:-1], None) is not None) == compiled


def test_columns_anywhere_in_memory() -> None:
    columns = [np.random.default_rng(place).normal(size=90_000) for place in range(9)]
    found = columns_in_memory([*columns, columns[0][::-1]])  # the last does not lie as it is read: it is copied
    assert found is not None
    wanted = np.column_stack([*columns, columns[0][::-1]])
    assert found.rows(slice(17, 80_001)).tobytes() == wanted[17:80_001].tobytes()
    assert found.rows(np.array([0, 5, 89_999])).tobytes() == wanted[[0, 5, 89_999]].tobytes()
    assert found.rows(slice(3, 3)).shape == found.rows(np.empty(0, np.int64)).shape == (0, 10)


@pytest.mark.usefixtures("compiled")
def test_frames_of_many_arrays() -> None:
    columns = some_columns(50, 6)
    frame = pd.DataFrame({str(place): column.copy() for place, column in enumerate(columns)})
    for wanted in (["0", "1", "2", "3", "4", "5"], ["4", "1"]):
        table = open_container(frame, wanted)
        assert table is not None
        assert table.read(slice(3, 40)).tobytes() == frame[wanted].to_numpy()[3:40].tobytes()
        assert table.read(np.array([2, 49])).tobytes() == frame[wanted].to_numpy()[[2, 49]].tobytes()


def test_what_is_read_lives_as_long_as_its_reader() -> None:
    found = columns_in_memory([np.arange(300_000.0), np.arange(300_000.0)[::-1]])  # nobody else holds them
    assert found is not None
    rubbish = [np.full(300_000, np.nan) for _ in range(4)]
    assert found.rows(slice(299_999, 300_000)).tolist() == [[299_999.0, 0.0]]
    del rubbish
