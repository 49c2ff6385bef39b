"""Neighbouring sparse matrices of SciPy, and matrices whose parts do not fit together."""

from typing import Any

import numpy as np
import scipy.sparse
from hypothesis import strategies as st
from numpy.typing import NDArray

from plandp_lab.fuzz.tables import Neighbours
from plandp_lab.fuzz.values import Draw, integers, numbers, numpy_cells, texts

FORMATS = ("csr", "csr", "csc", "coo", "bsr", "lil", "dok", "dia")


def matrices(draw: Draw) -> Neighbours:
    """Matrices that differ in one row, which can be unsorted, hold items twice, zeros, NaN and items outside."""
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    dtype = draw(st.sampled_from(["f8", "f4", "i8", "i1", "u8", "?", "f8", "f8"]))
    # Only matrices in compressed rows can be handed over with items that are outside.
    form = draw(st.sampled_from(FORMATS))
    places = st.integers(-2, d + 1) if form == "csr" and draw(st.booleans()) else st.integers(0, d - 1)

    def row() -> tuple[list[int], NDArray[Any]]:
        found = draw(st.lists(places, max_size=6))
        return found, draw(numpy_cells(dtype, len(found)))

    rows = [row() for _ in range(n)]
    changed = list(rows)
    changed[draw(st.integers(0, n - 1))] = row()
    index = draw(st.sampled_from([np.int32, np.int64]))

    def matrix(content: list[tuple[list[int], NDArray[Any]]]) -> Any:
        begin = np.cumsum([0, *(len(found) for found, _ in content)]).astype(index)
        items = np.array([place for found, _ in content for place in found], index)
        values = np.concatenate([values for _, values in content])
        if form == "csr":
            made = scipy.sparse.csr_array((n, d), dtype=values.dtype)
            made.indptr, made.indices, made.data = begin, items, values
            return made
        owners = np.repeat(np.arange(n), np.diff(begin))
        coordinates = scipy.sparse.coo_array((values, (owners, items)), shape=(n, d))
        with np.errstate(all="ignore"):
            return coordinates.asformat(form)

    return Neighbours(matrix(rows), matrix(changed), tuple(range(d)))


def broken_matrices(draw: Draw) -> Neighbours:
    """Matrices whose parts were replaced by others."""
    made = matrices(draw).one
    parts = {
        "csr": ("indptr", "indices", "data"),
        "csc": ("indptr", "indices", "data"),
        "bsr": ("indptr", "indices", "data"),
        "coo": ("data",),
        "lil": ("rows", "data"),
        "dok": (),
        "dia": ("offsets", "data"),
    }[made.format]
    for name in draw(st.lists(st.sampled_from(parts), max_size=2)) if parts else ():
        setattr(made, name, draw(_parts(getattr(made, name))))
    if made.format == "dok":
        key = st.one_of(integers, st.none(), texts)
        for _ in range(draw(st.integers(0, 3))):
            made._dict[(draw(key), draw(key))] = draw(st.one_of(numbers, texts))
    if made.format == "lil" and _is_filled(made.rows) and _is_filled(made.data) and draw(st.booleans()):
        made.rows[0], made.data[0] = (
            draw(st.lists(integers, max_size=4)),
            draw(st.lists(st.one_of(numbers, texts), max_size=4)),
        )
    return Neighbours(made, made, tuple(range(made.shape[1])))


def _parts(part: Any) -> st.SearchStrategy[Any]:
    whole = np.atleast_1d(np.asarray(part))
    places = st.lists(st.integers(-5, 30), max_size=12)
    return st.one_of(
        places.map(lambda found: np.array(found, np.int32)),
        places.map(lambda found: np.array(found, np.int64)),
        st.lists(st.integers(-(2**63), 2**63 - 1), max_size=8).map(lambda found: np.array(found, np.int64)),
        st.lists(st.integers(0, 2**64 - 1), max_size=8).map(lambda found: np.array(found, np.uint64)),
        st.lists(st.floats(), max_size=8).map(np.array),
        st.just(whole[:0]),
        st.just(whole[..., np.newaxis]),
        st.just(np.ma.array(np.zeros(3), mask=True)),
        st.just(np.array(["a", "b"])),
        st.just([1, 2, 3]),
        st.none(),
    )


def _is_filled(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype == object and part.ndim == 1 and len(part) > 0
