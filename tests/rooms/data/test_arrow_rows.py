"""Cells that are rows: lists and Spark's vectors in Arrow, each row by itself and by a public rule."""

from typing import Any

import numpy as np
import pytest

from plandp.data.arrow_rows import list_rows, stored_vectors, vector_rows
from plandp.data.arrow_table import open_arrow
from plandp.data.open import open_rows
from plandp.errors import ArgumentError

pyarrow = pytest.importorskip("pyarrow")

NAN = float("nan")
VECTOR = pyarrow.struct(
    [
        ("type", pyarrow.int8()),
        ("size", pyarrow.int32()),
        ("indices", pyarrow.list_(pyarrow.int32())),
        ("values", pyarrow.list_(pyarrow.float64())),
    ]
)


def dense(*values: float) -> dict[str, Any]:
    return {"type": 1, "size": None, "indices": None, "values": list(values)}


def sparse(size: int, **entries: float) -> dict[str, Any]:
    places = [int(name[1:]) for name in entries]
    return {"type": 0, "size": size, "indices": places, "values": list(entries.values())}


CELLS: list[tuple[Any, list[float]]] = [
    (dense(1.0, -0.0, NAN), [1.0, -0.0, NAN]),
    (None, [NAN, NAN, NAN]),
    (sparse(3, p2=7.0), [0.0, 0.0, 7.0]),
    (sparse(3), [0.0, 0.0, 0.0]),
    (sparse(2, p1=5.0), [0.0, 5.0, NAN]),
    (sparse(9, p0=1.0, p8=2.0), [1.0, 0.0, 0.0]),
    (dense(), [NAN, NAN, NAN]),
    (dense(4.0), [4.0, NAN, NAN]),
    (dense(1.0, 2.0, 3.0, 4.0), [1.0, 2.0, 3.0]),
]


def test_vectors_are_rows_each_by_itself() -> None:
    cells, rows = [cell for cell, _ in CELLS], [row for _, row in CELLS]
    np.testing.assert_array_equal(vector_rows(pyarrow.array(cells, VECTOR), 3), rows)
    for cell, row in CELLS:
        np.testing.assert_array_equal(vector_rows(pyarrow.array([cell], VECTOR), 3), [row])
    assert vector_rows(pyarrow.array([], VECTOR), 3).shape == (0, 3)


def test_a_part_of_a_batch_is_read_as_such() -> None:
    cells = pyarrow.array([cell for cell, _ in CELLS], VECTOR)
    np.testing.assert_array_equal(vector_rows(cells.slice(3, 4), 3), [row for _, row in CELLS[3:7]])


def test_entries_of_vectors_stay_sparse() -> None:
    stored, sizes = stored_vectors(pyarrow.array([cell for cell, _ in CELLS], VECTOR))
    assert np.diff(stored.begin).tolist() == [3, 0, 1, 0, 1, 2, 0, 1, 4]
    assert stored.items.tolist() == [0, 1, 2, 2, 1, 0, 8, 0, 0, 1, 2, 3]
    assert sizes.tolist() == [3, 0, 3, 3, 2, 9, 0, 1, 4]


@pytest.mark.parametrize(
    ("cells", "rows"),
    [
        ([[1.0, 2.0], [3.0, None]], [[1.0, 2.0], [3.0, NAN]]),
        ([[1.0, 2.0], None, [], [3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0], [NAN] * 2, [NAN] * 2, [3.0, NAN], [4.0, 5.0]]),
        ([], np.empty((0, 2))),
    ],
)
def test_lists_are_rows_each_by_itself(cells: list[Any], rows: Any) -> None:
    column = pyarrow.array(cells, pyarrow.list_(pyarrow.float64()))
    np.testing.assert_array_equal(list_rows(column, 2), rows)
    longer = pyarrow.array([[9.0, 9.0], *cells, [8.0, 8.0]], pyarrow.list_(pyarrow.float64()))
    np.testing.assert_array_equal(list_rows(longer.slice(1, len(cells)), 2), rows)


def test_a_type_of_somebody_s_own_without_a_hash_is_refused_by_its_name() -> None:
    class Own(pyarrow.ExtensionType):  # type: ignore[misc]  # pyarrow ships no types
        def __init__(self) -> None:
            super().__init__(pyarrow.int64(), "plandp.test.own")

        def __arrow_ext_serialize__(self) -> bytes:
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage: object, serialized: bytes) -> "Own":
            return cls()

        def __eq__(self, other: object) -> bool:  # and so no hash
            return isinstance(other, Own)

    table = pyarrow.table({"x": pyarrow.ExtensionArray.from_storage(Own(), pyarrow.array([1, 2])), "y": [1.0, 2.0]})
    with pytest.raises(ArgumentError, match="column 'x' has dtype"):
        open_rows(table)
    assert open_rows(table, columns=["y"]).n == 2


def columns_as_they_may_lie() -> dict[str, Any]:
    values, n = np.random.default_rng(4).normal(size=300_000), 300_000
    moved = np.frombuffer(b"x" + values.tobytes(), np.uint8)[1:]  # begins within a number
    return {
        "whole": pyarrow.array(values),
        "sliced": pyarrow.array(np.concatenate([[7.0, 8.0], values]))[2:],
        "with nulls": pyarrow.array(values, mask=values > 1),
        "misaligned": pyarrow.Array.from_buffers(pyarrow.float64(), n, [None, pyarrow.py_buffer(moved)]),
        "chunked": pyarrow.chunked_array([values[:9], values[9:]]),
        "float32": pyarrow.array(values.astype(np.float32)),
        "integers": pyarrow.array(np.arange(n)),
    }


@pytest.mark.parametrize("kind", columns_as_they_may_lie())
def test_columns_are_read_where_they_lie_only_if_they_can_be(kind: str) -> None:
    columns = columns_as_they_may_lie()
    table = open_arrow(pyarrow.table({"a": columns["whole"], "b": columns[kind]}), None)
    assert table is not None
    assert (table.in_memory is not None) == (kind in ("whole", "sliced"))
    chosen = np.array([0, 1, 8, 9, 299_999])
    whole = columns[kind].to_numpy(zero_copy_only=False) if kind != "chunked" else columns[kind].to_numpy()
    np.testing.assert_array_equal(table.read(chosen)[:, 1], whole[chosen])
    np.testing.assert_array_equal(table.read(slice(5, 12)), np.column_stack([columns["whole"], whole])[5:12])
