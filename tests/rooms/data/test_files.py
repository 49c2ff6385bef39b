"""Files of every kind: the same bits as the array, and refusals that tell of the file and never of a cell."""

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import plandp
from plandp.data.files import READERS
from plandp.data.open import open_rows
from plandp.errors import ArgumentError, MissingExtra

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

CANARY = "canary48151623"
TABLE = np.random.default_rng(5).normal(size=(500, 3)) * [1, 10, 1e-3]
TABLE[7, 1] = np.nan
TABLE[8] = [np.inf, -np.inf, 5e-324]
NAMES = ("a", "b.c", "d e")


def _arrow(table: NDArray[np.float64]) -> Any:
    return pyarrow.table({name: table[:, place] for place, name in enumerate(NAMES)})


def _write_text(path: Path, table: NDArray[np.float64], mark: str) -> None:
    path.write_text("\n".join([mark.join(NAMES), *(mark.join(map(repr, row)) for row in table.tolist())]))


def _write_stream(path: Path, table: NDArray[np.float64]) -> None:
    with ipc.new_stream(path, _arrow(table).schema) as sink:
        sink.write_table(_arrow(table), max_chunksize=100)


WRITERS: dict[str, Callable[[Path, NDArray[np.float64]], object]] = {
    "t.csv": lambda path, table: _write_text(path, table, ","),
    "t.tsv": lambda path, table: _write_text(path, table, "\t"),
    "t.parquet": lambda path, table: parquet.write_table(_arrow(table), path, row_group_size=100),
    "t.feather": lambda path, table: feather.write_feather(_arrow(table), str(path)),
    "t.arrow": lambda path, table: feather.write_feather(_arrow(table), str(path), compression="uncompressed"),
    "stream.arrow": _write_stream,
    "t.arrows": _write_stream,
    "t.ipc": lambda path, table: feather.write_feather(_arrow(table), str(path)),
    "t.pq": lambda path, table: parquet.write_table(_arrow(table), path),
    "t.npy": np.save,
    "t.npz": lambda path, table: np.savez(path, table),
    "compressed.npz": lambda path, table: np.savez_compressed(path, table=table),
    "LOUD.CSV": lambda path, table: _write_text(path, table, ","),
}


def refusal(data: object, **arguments: Any) -> str:
    with pytest.raises(ArgumentError) as caught:
        open_rows(data, **arguments)
    assert caught.value.argument == "data"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert CANARY not in str(caught.value)
    return str(caught.value)


def test_every_kind_of_file_is_tried() -> None:
    assert {Path(name).suffix.lower() for name in WRITERS} == set(READERS)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("as_text", [True, False])
def test_a_file_gives_the_release_of_the_array(tmp_path: Path, name: str, as_text: bool) -> None:
    path = tmp_path / name
    WRITERS[name](path, TABLE)
    public: dict[str, Any] = {"bounds": (-100, 100), "rho": 1, "testing_seed": 3}
    release = plandp.mean(str(path) if as_text else path, **public)
    assert release.labels == ((0, 1, 2) if path.suffix in (".npy", ".npz") else NAMES)
    expected = plandp.mean(TABLE, **public)
    assert release.estimate.tobytes() == expected.estimate.tobytes()
    assert release.receipt == expected.receipt


@pytest.mark.parametrize("name", WRITERS)
def test_columns_are_chosen_and_ordered(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path, TABLE)
    asked: list[Any] = [2, 0] if path.suffix in (".npy", ".npz") else [NAMES[2], NAMES[0]]
    rows = open_rows(path, columns=asked)
    assert rows.labels == tuple(asked)
    assert np.array_equal(np.concatenate(list(rows.blocks())), TABLE[:, [2, 0]])
    with pytest.raises(ArgumentError, match=r"^columns: the data has no column 'nothing'"):
        open_rows(path, columns=["nothing"])


@pytest.mark.parametrize("name", [name for name in WRITERS if not name.lower().endswith(("csv", "tsv"))])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, name: str, share: float) -> None:
    WRITERS[name](tmp_path / name, TABLE)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: int(share * len(whole))])
    message = refusal(tmp_path / name)
    assert name in message
    assert ("is empty" if share == 0 else "cut off, damaged") in message


@pytest.mark.parametrize("suffix", [suffix for suffix in READERS if suffix not in (".csv", ".tsv")])
@pytest.mark.parametrize("text", [CANARY.encode() * 99, b"PAR1", b"ARROW1\0\0" + CANARY.encode(), b"\x93NUMPY", b"PK"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, suffix: str, text: bytes) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(text)
    assert "cut off, damaged or not a" in refusal(path)


@pytest.mark.parametrize("name", WRITERS)
def test_missing_files_and_other_suffixes_are_refused(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path / name) == f"data: there is no file {str(tmp_path / name)!r}"
    assert refusal(str(tmp_path / name)).endswith("; a string is taken for the path of a file")
    other = tmp_path / "t.xlsx"
    other.write_text(CANARY)
    assert "must end in one of .csv, .tsv, .parquet" in refusal(other)


@pytest.mark.parametrize(
    "text", [f"a,b\n{CANARY},1\n", f"{CANARY}\0", f"a,b {CANARY} " * 1000], ids=["lines", "nul", "long"]
)
def test_the_text_of_a_table_passed_by_mistake_is_not_repeated(text: str) -> None:
    assert "there is no file of that name; a string is taken for the path" in refusal(text)


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, CANARY, CANARY)

    monkeypatch.setattr(Path, "open", refuse)
    assert "cannot be read: Permission denied" in refusal(path)


class Trap:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return sys.exit, (f"{CANARY}: unpickled",)


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_nothing_is_ever_unpickled(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    objects = np.array([[Trap()]], dtype=object)
    if suffix == ".npy":
        np.save(path, objects, allow_pickle=True)
    else:
        np.savez(path, objects)
    assert "not a NumPy file of numbers" in refusal(path)
    path.write_bytes(pickle.dumps(Trap()))
    assert "not a NumPy file of numbers" in refusal(path)


def test_an_archive_of_several_arrays_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", x=TABLE, y=TABLE)
    assert "holds 2 arrays; save the table on its own" in refusal(tmp_path / "t.npz")


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (np.full((2, 2), CANARY), "not numeric"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.zeros((0, 2)), "0 rows × 2 columns"),
    ],
)
def test_arrays_in_files_are_held_to_the_rules_of_arrays(tmp_path: Path, array: NDArray[Any], problem: str) -> None:
    np.save(tmp_path / "t.npy", array)
    assert problem in refusal(tmp_path / "t.npy")


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_schema_is_refused_before_any_value_is_read(tmp_path: Path, suffix: str) -> None:
    table = pyarrow.table({"x": [1.0, None], "name": [CANARY, None], "whole": [2**60 + 1, -1]})
    path = tmp_path / f"t{suffix}"
    (parquet.write_table if suffix == ".parquet" else feather.write_feather)(table, str(path))
    assert "column 'name' has dtype string, which is not numeric" in refusal(path)
    rows = open_rows(path, columns=["whole", "x"])
    assert np.array_equal(next(rows.blocks()), [[float(2**60 + 1), 1], [-1, np.nan]], equal_nan=True)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow"])
def test_without_pyarrow_it_is_asked_for(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    WRITERS[name](tmp_path / name, TABLE)
    for module in [module for module in sys.modules if module.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'plandp\[arrow\]'"):
        open_rows(tmp_path / name)


def test_csv_and_npy_need_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyarrow", "pandas", "polars"):
        monkeypatch.setitem(sys.modules, module, None)
    for name in ("t.csv", "t.npy"):
        WRITERS[name](tmp_path / name, TABLE)
        assert open_rows(tmp_path / name).n == 500
