"""Sparse matrices in .npz files: the same bits as in memory, and nothing in a file but its frame can raise."""

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import plandp
from plandp.data.npz_matrix import is_matrix_file, read_npz_matrix
from plandp.errors import ArgumentError

CANARY = "canary48151623"
ITEMS = scipy.sparse.random_array((200, 30), density=0.1, rng=np.random.default_rng(5), format="csr")
PUBLIC: dict[str, Any] = {"kind": "nonnegative", "bounds": (0, 1), "rho": 1, "testing_seed": 3}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def saved(**changed: Any) -> str:
    """The file of ITEMS, some of its arrays replaced; None leaves one out."""
    parts = {"format": b"csr", "shape": ITEMS.shape, "data": ITEMS.data} | {
        "indptr": ITEMS.indptr,
        "indices": ITEMS.indices,
    }
    np.savez("items.npz", **{name: part for name, part in (parts | changed).items() if part is not None})
    return "items.npz"


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("of", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_a_file_gives_the_release_of_its_matrix(of: type, kind: str, compressed: bool) -> None:
    scipy.sparse.save_npz("items.npz", of(ITEMS).asformat(kind), compressed=compressed)
    expected = plandp.mean(ITEMS, **PUBLIC)
    for name in ("items.npz", Path("items.npz")):
        assert plandp.mean(name, **PUBLIC) == expected
    Path("items.npz").rename("ITEMS.NPZ")
    assert plandp.mean("ITEMS.NPZ", **PUBLIC) == expected
    assert plandp.mean("ITEMS.NPZ", **PUBLIC, columns=[7, 2]).labels == (7, 2)
    assert np.any(expected.estimate > 0.01)


def test_coordinates_in_one_array_are_read_too() -> None:
    coo = ITEMS.tocoo()
    np.savez("items.npz", format="coo", shape=coo.shape, data=coo.data, coords=np.array(coo.coords))
    assert plandp.mean("items.npz", **PUBLIC) == plandp.mean(ITEMS, **PUBLIC)


def test_a_matrix_does_not_show_what_it_holds() -> None:
    scipy.sparse.save_npz("items.npz", scipy.sparse.csr_array(np.array([[0, 48.15], [16.23, 0]])))
    shown = repr(read_npz_matrix(lambda *_: None, Path("items.npz")))
    assert not any(text in shown for text in ("48.15", "16.23", "array"))


def test_tables_in_files_are_no_matrices() -> None:
    np.savez("table.npz", ITEMS.toarray())
    np.save("table.npy", ITEMS.toarray())
    Path("empty.npz").touch()
    Path("other.npz").write_text(CANARY)
    Path("folder.npz").mkdir()
    Path("items.csv").write_bytes(Path(saved()).read_bytes())
    for name in ("table.npz", "table.npy", "empty.npz", "other.npz", "folder.npz", "none.npz", "items.csv", "a\0b.npz"):
        assert not is_matrix_file(name)
    assert not is_matrix_file(ITEMS)
    assert is_matrix_file(saved())
    for name in ("table.npz", "table.npy"):
        np.testing.assert_array_equal(
            plandp.mean(name, **PUBLIC).estimate, plandp.mean(ITEMS.toarray(), **PUBLIC).estimate
        )


def test_strange_entries_are_no_error() -> None:
    """What the file says of rows and values is data, however strange."""
    values = ITEMS.data.copy()
    values[:5] = [np.nan, -1, np.inf, 0, 1e300]
    outside = ITEMS.indices.copy()
    outside[:3] = [-1, 30, 2**31 - 1]
    backwards = ITEMS.indptr.copy()
    backwards[3] = 10**6
    for changed in ({"data": values}, {"indices": outside}, {"indptr": backwards}, {"data": ITEMS.data[:-9]}):
        assert np.all(np.isfinite(plandp.mean(saved(**changed), **PUBLIC).estimate))


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"format": b"dia"}, "the file 'items.npz' holds a sparse matrix in another format; save it as csr"),
        ({"format": CANARY}, "the file 'items.npz' holds a sparse matrix in another format; save it as csr"),
        ({"format": b"bsr"}, "the file 'items.npz' holds a sparse matrix in another format; save it as csr"),
        ({"indptr": None}, "is cut off, damaged or not a NumPy file of numbers"),
        ({"format": np.array([1.5, 2])}, "is cut off, damaged or not a NumPy file of numbers"),
        ({"format": b"\xff"}, "is cut off, damaged or not a NumPy file of numbers"),
        ({"shape": np.array([200.0, 30.0])}, "is cut off, damaged or not a NumPy file of numbers"),
        ({"shape": np.array([-1, 30])}, "is cut off, damaged or not a NumPy file of numbers"),
        ({"shape": np.array([200, 30, 1])}, "the sparse array has 3 dimensions; pass rows × columns"),
        ({"shape": np.array([0, 30])}, "a table of 0 rows × 30 columns has no mean"),
        ({"shape": np.array([201, 30])}, "the parts of the sparse matrix do not fit together"),
        ({"indices": ITEMS.indices.astype(float)}, "the parts of the sparse matrix do not fit together"),
        ({"data": ITEMS.data[:, np.newaxis]}, "the parts of the sparse matrix do not fit together"),
        ({"data": ITEMS.data.astype(complex)}, "the matrix holds complex numbers, which is not numeric"),
        ({"data": np.full(len(ITEMS.data), CANARY)}, "the matrix holds text, which is not numeric"),
    ],
)
def test_a_file_that_is_no_matrix_is_refused(changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(ArgumentError) as refusal:
        plandp.mean(saved(**changed), **PUBLIC)
    assert problem in str(refusal.value)
    assert refusal.value.argument == "data"
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None
    assert CANARY not in repr(refusal.value)


def test_a_file_that_is_cut_off_is_refused() -> None:
    whole = Path(saved()).read_bytes()
    Path("items.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArgumentError, match="cut off, damaged"):
        plandp.mean("items.npz", **PUBLIC)


class Bomb:
    """What must never be built."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("something was unpickled",)


@pytest.mark.parametrize("member", ["format", "shape", "data", "indptr", "indices"])
def test_nothing_is_unpickled(member: str) -> None:
    name = saved(**{member: None})
    object_array = np.empty(1, object)
    object_array[0] = Bomb()
    with zipfile.ZipFile(name, "a") as archive, archive.open(f"{member}.npy", "w") as file:
        np.lib.format.write_array(file, object_array, allow_pickle=True)
    assert is_matrix_file(name)
    with pytest.raises(ArgumentError, match="cut off, damaged or not a NumPy file of numbers"):
        plandp.mean(name, **PUBLIC)
    Path(name).write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ArgumentError, match="cut off, damaged or not a NumPy file of numbers"):
        plandp.mean(name, **PUBLIC)


def test_real_numbers_are_not_kept_in_sparse_matrices() -> None:
    with pytest.raises(ArgumentError) as refusal:
        plandp.mean(saved(), bounds=(0, 1), rho=1)
    assert str(refusal.value) == (
        "data: the file 'items.npz' holds a sparse matrix, which is 0/1 data or counts; "
        "pass kind='binary' or kind='nonnegative'"
    )
