"""The lines on items of docs/bad-input.md: sparse rows of `kind="binary"` and `kind="nonnegative"`."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas
import scipy.sparse
from bad_input_containers import CONTAINERS, Container
from numpy.typing import NDArray

import plandp

NAN, INF = float("nan"), float("inf")
CANARY = 48.151623
BINARY: dict[str, Any] = {"kind": "binary", "rho": 1}
COUNTS: dict[str, Any] = {"kind": "nonnegative", "bounds": (0, 20), "rho": 1}
FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr")

TABLE = np.random.default_rng(6).poisson(0.3, (300, 8)).astype(float)

Call = tuple[Callable[[], object], Container | None]
ACCEPTED_ITEMS: dict[str, Callable[[], None]] = {}
REFUSED_ITEMS: dict[str, Callable[[], Iterator[Call]]] = {}


def csr(values: Any, items: Any, begin: Any, *, d: int = 8) -> Any:
    """A matrix with these parts, which SciPy never gets to check."""
    matrix = scipy.sparse.csr_array((len(begin) - 1, d))
    matrix.data, matrix.indices, matrix.indptr = np.array(values, float), np.array(items), np.array(begin)
    return matrix


def with_entries(row: int, entries: list[tuple[int, float]]) -> Any:
    """TABLE with the entries of one row replaced by these, stored as they are."""
    clean = scipy.sparse.csr_array(TABLE)
    first, last = clean.indptr[row : row + 2]
    items, values = zip(*entries, strict=True) if entries else ((), ())
    begin = clean.indptr.copy()
    begin[row + 1 :] += len(entries) - (last - first)
    return csr(
        [*clean.data[:first], *values, *clean.data[last:]],
        np.array([*clean.indices[:first], *items, *clean.indices[last:]], np.int64),
        begin,
    )


def with_row(row: int, **cells: float) -> NDArray[np.float64]:
    """TABLE with one row replaced: c3=2 is a two in column 3, and what is not named is zero."""
    table = TABLE.copy()
    table[row] = 0
    for name, value in cells.items():
        table[row, int(name[1:])] = value
    return table


def release(data: object, **arguments: Any) -> plandp.MeanRelease:
    found = plandp.mean(data, testing_seed=3, **arguments)
    assert np.all(np.isfinite(found.estimate))
    return found


def same(strange: object, plain: object, *kinds: dict[str, Any]) -> None:
    """Both give the same release, bit for bit."""
    for kind in kinds or (BINARY, COUNTS):
        np.testing.assert_array_equal(release(strange, **kind).estimate, release(plain, **kind).estimate)


def fine(case: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def keep(check: Callable[[], None]) -> Callable[[], None]:
        ACCEPTED_ITEMS[case] = check
        return check

    return keep


def wrong(case: str, *variants: dict[str, Any]) -> None:
    """The table is right, in every container and as a sparse matrix, and these arguments are not."""

    def calls() -> Iterator[Call]:
        for variant in variants:
            for container in CONTAINERS:
                data = container.put(TABLE)
                yield (lambda data=data, given=variant: plandp.mean(data, **({"rho": 1} | given))), container
            if variant.get("kind", "real") != "real":
                yield (lambda given=variant: plandp.mean(scipy.sparse.csr_array(TABLE), **({"rho": 1} | given))), None

    REFUSED_ITEMS[case] = calls


def wrong_data(case: str, *tables: Callable[[], object]) -> None:
    REFUSED_ITEMS[case] = lambda: iter(
        [
            ((lambda data=data, kind=kind: plandp.mean(data(), **kind)), None)
            for data in tables
            for kind in (BINARY, COUNTS)
        ]
    )


# -- what is fine


@fine("sparse and dense, in any format and type")
def _() -> None:
    for kind in (BINARY, COUNTS):
        expected = release(scipy.sparse.csr_array(TABLE), **kind)
        for format in FORMATS:
            for matrix in (scipy.sparse.csr_array(TABLE), scipy.sparse.csr_matrix(TABLE)):
                assert release(matrix.asformat(format), **kind) == expected
        for dtype in (np.int8, np.uint64, np.float32):
            assert release(scipy.sparse.csr_array(TABLE.astype(dtype)), **kind) == expected
        of_pandas = pandas.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_array(TABLE))
        assert release(of_pandas, **kind) == expected
        for container in CONTAINERS:
            assert release(container.put(TABLE), **kind).estimate.tolist() == expected.estimate.tolist()
    same(scipy.sparse.csr_array(TABLE > 0), TABLE, BINARY)


@fine("a row with all items")
def _() -> None:
    for kind, most in ((BINARY, 1.0), (COUNTS, 1e300)):
        table = np.zeros((400, 600))
        table[:, :2] = 1
        table[7] = most
        found = release(scipy.sparse.csr_array(table), **kind)
        # it counts as no more than a clipped row, and cannot lift the other items by the whole of it
        assert np.all(found.estimate[2:] < 0.1)
        assert np.all(np.abs(found.estimate[:2] - 1) < 0.2)


@fine("a cell that is stored thousands of times")
def _() -> None:
    same(with_entries(5, [(3, 1.0)] * 5000), with_row(5, c3=1), BINARY)
    same(with_entries(5, [(3, 1.0)] * 5000), with_row(5, c3=20), COUNTS)
    same(with_entries(5, [(3, 1.0), (1, 2.0), (3, 1.5)]), with_row(5, c1=2, c3=2.5), COUNTS)


@fine("entries in any order")
def _() -> None:
    same(with_entries(5, [(7, 1.0), (0, 2.0), (3, 4.0)]), with_row(5, c0=2, c3=4, c7=1))


@fine("zeros that are stored")
def _() -> None:
    same(with_entries(5, [(2, 0.0), (3, 1.0), (4, -0.0)]), with_row(5, c3=1))


@fine("a negative or NaN count")
def _() -> None:
    same(with_entries(5, [(2, -4.0), (3, 1.0), (4, NAN)]), with_row(5, c3=1), COUNTS)
    same(with_entries(5, [(2, 4.0), (2, -4.0), (3, 1.0), (4, 1.0), (4, -INF)]), with_row(5, c3=1), COUNTS)
    table = with_row(5, c2=-4, c3=1, c4=NAN)
    same(table, with_row(5, c3=1), COUNTS)


@fine("a count above the bound")
def _() -> None:
    same(with_entries(5, [(2, 1e300), (3, INF), (4, 20.5)]), with_row(5, c2=20, c3=20, c4=20), COUNTS)


@fine("other values than 0 and 1 in binary data")
def _() -> None:
    same(with_entries(5, [(1, -4.0), (2, 0.001), (3, INF), (4, NAN)]), with_row(5, c1=1, c2=1, c3=1), BINARY)


@fine("indices outside the columns")
def _() -> None:
    outside = [(-1, 1.0), (8, 1.0), (2**40, 1.0), (-(2**62), 1.0), (3, 1.0)]
    same(with_entries(5, outside), with_row(5, c3=1))


@fine("row starts that run back or beyond the entries")
def _() -> None:
    for begin in ([0, 3, 1, 4], [0, 2, 99, 4], [-5, 1, 2, 10**9]):
        matrix = csr([1.0] * 4, [0, 1, 2, 3], begin)
        for kind in (BINARY, COUNTS):
            assert release(matrix, **kind).receipt.n == 3


@fine("nobody has anything")
def _() -> None:
    nothing = scipy.sparse.csr_array((300, 8))
    same(nothing, np.zeros((300, 8)))
    assert np.all(release(nothing, **BINARY).estimate < 0.1)


@fine("one person or one item")
def _() -> None:
    for shape in ((1, 8), (300, 1), (1, 1)):
        same(scipy.sparse.csr_array(np.ones(shape)), np.ones(shape))


# -- what is refused

wrong("an unknown kind", {"kind": "complex", "bounds": (0, 100)}, {"kind": None}, {"kind": ["real"]})
wrong("binary data with other bounds", {"kind": "binary", "bounds": (0, 2)}, {"kind": "binary", "bounds": (0, 0.5)})
wrong(
    "items that begin elsewhere than at 0",
    {"kind": "nonnegative", "bounds": (-1, 5)},
    {"kind": "nonnegative", "bounds": (1, 5)},
)
wrong("a missing value for items", {"kind": "binary", "missing": 0})
wrong(
    "items worth more than can be reckoned with",
    {"kind": "nonnegative", "bounds": (0, 1e80), "error_scale": "bounds"},
    {"kind": "nonnegative", "bounds": (0, 1e-80), "error_scale": "bounds"},
)
wrong("a known spread of items", {"kind": "nonnegative", "bounds": (0, 5), "spread": 1})
wrong("a smallest spread of items", {"kind": "binary", "smallest_spread": 1})
wrong("another method for items", {"kind": "binary", "method": "gaussian"}, {"kind": "binary", "method": "unscaled"})
wrong("a refinement of another method", {"kind": "binary", "method": "plan-classic", "refine": ()})
wrong(
    "a refinement that there is not",
    *({"kind": "binary", "refine": refine} for refine in ("polish", ["shrink", "polish"], 5, [None], [["shrink"]])),
)
wrong("a refinement of real numbers", {"bounds": (0, 100), "refine": ()}, {"bounds": (0, 100), "refine": ["clamp"]})
wrong_data("a sparse matrix of complex numbers", lambda: scipy.sparse.csr_array(TABLE * CANARY * 1j))
REFUSED_ITEMS["sparse columns of pandas without `kind`"] = lambda: iter(
    [((lambda: plandp.mean(_sparse_columns(0.0), bounds=(0, 100), rho=1)), None)]
)
wrong_data(
    "sparse columns of pandas that leave out something else than 0 or NaN", lambda: _sparse_columns(fill_value=1.0)
)
wrong_data("a sparse array of one dimension", lambda: scipy.sparse.coo_array(TABLE[0] * CANARY))
wrong_data("a sparse matrix without rows", lambda: scipy.sparse.csr_array((0, 8)))


def _sparse_columns(fill_value: float) -> object:
    return pandas.DataFrame({"tea": pandas.arrays.SparseArray(TABLE[:, 0] * CANARY, fill_value=fill_value)})


def _unfit(**parts: Any) -> object:
    matrix = scipy.sparse.csr_array(TABLE * CANARY)
    for name, part in parts.items():
        setattr(matrix, name, part)
    return matrix


wrong_data(
    "a sparse matrix whose parts do not fit",
    lambda: _unfit(indptr=np.zeros(7, int)),
    lambda: _unfit(indices=np.full(5, CANARY)),
    lambda: _unfit(data=np.full((5, 2), CANARY)),
)


def _file(matrix: Any, **changed: Any) -> str:
    scipy.sparse.save_npz("items.npz", matrix)
    if changed:
        np.savez("items.npz", **(dict(np.load("items.npz")) | changed))
    return "items.npz"


REFUSED_ITEMS["a file of a sparse matrix of real numbers"] = lambda: iter(
    [((lambda: plandp.mean(_file(scipy.sparse.csr_array(TABLE * CANARY)), bounds=(0, 100), rho=1)), None)]
)
wrong_data("a sparse matrix in another format, in a file", lambda: _file(scipy.sparse.dia_array(CANARY * np.eye(8))))
wrong_data(
    "a file of a sparse matrix that is damaged",
    lambda: _file(scipy.sparse.csr_array(TABLE * CANARY), shape=np.array([NAN, CANARY])),
    lambda: _file(scipy.sparse.csr_array(TABLE * CANARY), format=np.full(2, CANARY)),
)
