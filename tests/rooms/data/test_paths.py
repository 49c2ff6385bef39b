"""Patterns, directories and lists of files: in public order, of one kind, with the same columns, each file once."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import pandas
import pytest
from test_files import NAMES, WRITERS, refusal

import plandp
from plandp.data import streamed_rows
from plandp.data.open import open_rows
from plandp.errors import ArgumentError

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.usefixtures("own_folder")

TABLE = np.random.default_rng(9).normal(size=(600, 3))


def write_three(name: str) -> list[str]:
    """Write the table to three files that sort in this order; return their names."""
    suffix = Path(name).suffix
    parts = {f"{letter}{suffix}": part for letter, part in zip("cba", np.split(TABLE, [400, 500]), strict=True)}
    Path("data").mkdir()
    for part, rows in parts.items():
        WRITERS[name](Path("data") / part, rows)
    return sorted(f"data/{part}" for part in parts)


SORTED = np.concatenate([TABLE[500:], TABLE[400:500], TABLE[:400]])

NAMED: dict[str, Callable[[list[str]], Any]] = {
    "pattern": lambda names: f"data/*{Path(names[0]).suffix}",
    "pattern as path": lambda names: Path(f"data/?{Path(names[0]).suffix}"),
    "deep pattern": lambda names: f"**/*{Path(names[0]).suffix}",
    "directory": lambda names: "data",
    "directory as path": lambda names: Path("data"),
    "list": lambda names: names,
    "tuple of paths": lambda names: tuple(map(Path, names)),
}


@pytest.mark.parametrize("way", NAMED)
@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.npy", "stream.arrow"])
@pytest.mark.parametrize("in_memory", [0, 10**9])
def test_several_files_are_one_table(name: str, way: str, in_memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streamed_rows, "IN_MEMORY", in_memory)
    rows = open_rows(NAMED[way](write_three(name)))
    assert rows.labels == ((0, 1, 2) if name == "t.npy" else NAMES)
    assert np.array_equal(np.concatenate(list(rows.blocks())), SORTED)
    assert np.array_equal(np.concatenate(list(rows.sample(np.arange(0, 600, 7)).blocks())), SORTED[::7])


def test_a_list_keeps_its_order() -> None:
    first, second, third = write_three("t.npy")
    rows = open_rows([third, first, second])
    assert np.array_equal(np.concatenate(list(rows.blocks())), np.concatenate([TABLE[:400], SORTED[:200]]))


def test_a_release_from_a_pattern_is_that_of_the_table() -> None:
    write_three("t.parquet")
    public: dict[str, Any] = {"bounds": (-9, 9), "rho": 1, "testing_seed": 4}
    release = plandp.mean("data/*.parquet", **public)
    assert release.estimate.tobytes() == plandp.mean(SORTED, **public).estimate.tobytes()


def test_columns_are_chosen_by_name_in_every_file() -> None:
    Path("data").mkdir()
    Path("data/a.csv").write_text("x,y,z\n1,2,3\n")
    Path("data/b.csv").write_text("z,extra,y,x\n6,0,5,4\n")
    assert next(open_rows("data", columns=["y", "x"]).blocks()).tolist() == [[2, 1], [5, 4]]
    assert next(open_rows("data", columns={"y", "x"}).blocks()).tolist() == [[1, 2], [4, 5]]
    assert (
        "the file 'data/b.csv' has other columns than 'data/a.csv': it has 'extra' too; all must have the same"
        in refusal("data")
    )
    Path("data/b.csv").write_text("z,y,x\n6,5,4\n")
    assert "the file 'data/b.csv' has the columns of 'data/a.csv' in another order; say which one counts: " in refusal(
        "data"
    )
    Path("data/b.csv").write_text("y\n5\n")
    assert "'data/b.csv' has other columns than 'data/a.csv': it lacks 'x'; all must have the same" in refusal("data")
    for asked in (["y", "x"], {"y", "x"}):
        assert refusal("data", columns=asked).endswith("'data/a.csv': it lacks 'x'; all must have the same")
    Path("data/b.csv").write_text("Smith,yes\nJones,no\n")  # without names: they would be those of a row
    for columns in (None, ["y", "x"]):
        assert "Smith" not in (said := refusal("data", columns=columns))
        assert "it lacks '" in said
    with pytest.raises(ArgumentError, match=r"^columns: the data has no column 'w'"):
        open_rows("data", columns=["w"])


def test_a_name_with_marks_of_a_pattern_is_a_name_if_it_is_there() -> None:
    np.save("t[1].npy", TABLE)
    assert open_rows("t[1].npy").n == 600
    assert open_rows(["t[1].npy"]).n == 600


def test_what_others_leave_beside_files_is_left_out() -> None:
    write_three("t.parquet")
    Path("data/_SUCCESS").touch()
    Path("data/.a.parquet.crc").write_bytes(b"crc")
    assert open_rows("data").n == 600
    Path("data/deeper").mkdir()
    for pattern in ("data/*", "data/**", "**/*"):
        assert open_rows(pattern).n == 600
    os.rename("data/a.parquet", "data/_a.parquet")
    assert open_rows("data/*").n == 500
    assert open_rows("data/_*.parquet").n == 100
    assert refusal("data/deep*").startswith("data: no file matches the pattern")
    assert refusal("data[1]/*").endswith("; check the folder and the ending, and write [[] for a bracket")


def test_what_others_leave_in_folders_is_left_out_unless_it_is_spelled() -> None:
    """Copies of a job that has not ended, or has failed: their rows would count twice."""
    folders = ("year=1", "_temporary/0/task", ".hidden", "year=1/_tmp", "_old", "_old/a", "_old/a/_tmp", "year=1/.x")
    sizes = {f"out/{folder}": 2**power for power, folder in enumerate(folders)}
    for folder, n in sizes.items():
        Path(folder).mkdir(parents=True, exist_ok=True)
        np.save(f"{folder}/part-0.npy", TABLE[:n])
    year, task, hidden, tmp, old, deep, deep_tmp, x = sizes.values()
    here = str(Path.cwd())
    for pattern, n in {
        "out/**/*.npy": year,
        "out/**": year,
        "**": year,
        "**/**/*.npy": year,
        "out/*/*.npy": year,
        f"{here}/**/part-?.npy": year,
        "*/_temporary/**/*.npy": task,
        "**/task/*.npy": None,
        "out/_temporary/0/task/*.npy": task,
        "out/.hidden/*": hidden,
        "out/.*/*.npy": hidden,
        "out/**/_*/*.npy": tmp + old,
        "out/_old/**/*.npy": old + deep,
        "out/_o*/**": old + deep,
        "out/**/_old/**/_tmp/*": deep_tmp,
        "out/*/.?/*": x,
    }.items():
        if n is None:
            assert refusal(pattern).startswith("data: no file matches the pattern")
        else:
            assert open_rows(pattern).n == n, pattern


def test_a_folder_that_begins_so_can_hold_all(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("_mine/.kept").mkdir(parents=True)
    np.save("_mine/.kept/a.npy", TABLE)
    assert open_rows("_mine/.kept/*.npy").n == 600
    monkeypatch.chdir("_mine/.kept")
    for pattern in ("*.npy", "**", f"{Path.cwd()}/**", "../.kept/*"):
        assert open_rows(pattern).n == 600


@pytest.mark.parametrize("name", ["~/data/a.csv", Path("~/data/a.csv"), "~/data/*.csv", "~/data", ["~/data/a.csv"]])
def test_a_leading_tilde_is_the_home(name: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd() / "home"))
    Path("home/data").mkdir(parents=True)
    Path("home/data/a.csv").write_text("x\n7\n")
    assert open_rows(name).n == 1
    if not isinstance(name, list):
        assert "there is no file of that name" in refusal("~\0canary48151623")


def test_a_name_that_is_there_is_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd() / "home"))
    for folder, text in (("home", "x\n7\n"), ("~", "x\n7\n8\n")):
        Path(folder).mkdir()
        Path(folder, "a.csv").write_text(text)
    for name in ("~/a.csv", Path("~/a.csv"), "~", ["~/a.csv"], "./~/a.csv"):
        assert open_rows(name).n == 2
    assert open_rows("~/?.csv").n == 1
    os.rename("~/a.csv", "~/b.csv")
    assert open_rows("~/a.csv").n == 1


OPENED: dict[str, Callable[[str], Any]] = {
    "open": lambda name: open(name),  # noqa: SIM115
    "open as bytes": lambda name: open(name, "rb"),  # noqa: SIM115
    "temporary": lambda name: NamedTemporaryFile(suffix=".csv"),  # noqa: SIM115
    "temporary text": lambda name: NamedTemporaryFile("w+", suffix=".csv"),  # noqa: SIM115
    "Arrow": lambda name: pyarrow.OSFile(name),
    "mapped by Arrow": lambda name: pyarrow.memory_map(name),
}


@pytest.mark.parametrize("way", OPENED)
def test_an_open_file_is_told_to_be_passed_by_its_path(way: str) -> None:
    Path("a.csv").write_text("canary48151623\n7\n")
    with OPENED[way]("a.csv") as file:
        said = "an open file is not accepted, since files are read more than once; pass its path"
        assert refusal(file) == f"data: {said}"
        with pytest.raises(ArgumentError, match=rf"^table: {said}$"):
            plandp.mean_of_events(file, person="p", item="i", items=["a"], people=2, rho=1)
        assert file.tell() == 0  # nothing was read


def test_what_can_be_read_but_is_no_file_is_taken_for_what_it_is() -> None:
    class Source:
        """Batches, from something that can be read."""

        def read(self) -> None: ...

        def __iter__(self) -> Iterator[Any]:
            return iter([TABLE])

    class Wild:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError("canary48151623")

    assert open_rows(Source()).n == 600
    assert refusal(Wild()).startswith("data: a Wild is not accepted")
    frame = pandas.DataFrame({"read": [1.0], "seek": [2.0]})
    assert open_rows(frame).n == 1


def test_events_are_found_in_the_home_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(Path.cwd()))
    Path("a.csv").write_text("user,page\n7,home\n")
    asked: dict[str, Any] = {"person": "user", "item": "page", "items": ["home"], "people": 2, "rho": 1}
    assert plandp.mean_of_events("~/a.csv", **asked).labels == ("home",)
    for pattern in ("*.csv", "~/?.csv"):
        with pytest.raises(ArgumentError, match=r"is a pattern, and events are read from one file; name one$"):
            plandp.mean_of_events(pattern, **asked)


def test_the_one_file_with_a_column_of_text_is_named() -> None:
    for name, cells in (("a", [1.0]), ("b", [1.0]), ("c", ["canary48151623"])):
        pyarrow.parquet.write_table(pyarrow.table({"x": cells}), f"{name}.parquet")
    said = "data: in the file 'c.parquet', column 'x' has dtype string, which is not numeric"
    assert refusal("*.parquet").startswith(said)
    assert refusal("*.parquet", columns=["x"]).startswith(said)
    assert refusal("c.parquet").startswith("data: column 'x' has dtype string")


def test_an_empty_text_is_not_this_directory() -> None:
    Path("a.csv").write_text("x\n7\n")
    said = "data: an empty text names no file; pass the path of one, or '.' for this directory"
    assert refusal("") == said
    assert refusal(["a.csv", ""]) == said
    assert open_rows(".").n == 1


def test_an_address_is_shown_as_it_was_passed() -> None:
    assert refusal("file:///t.csv") == "data: 'file:///t.csv' is an address; leave 'file://' out of it"
    for address in ("s3://bucket", "https://host/t.parquet"):
        said = refusal(address)
        assert said.startswith(f"data: {address!r} is an address, and files are read from this machine only")
    assert "there is no file of that name" in refusal("s3://canary48151623\n1,2")


def test_what_is_no_table_of_files_is_refused() -> None:
    write_three("t.parquet")
    assert refusal("data/*.csv") == "data: no file matches the pattern 'data/*.csv'; check the folder and the ending"
    assert refusal(["data/a.parquet", "gone.parquet"]) == "data: there is no file 'gone.parquet'"
    alone = "; a pattern is not expanded inside a list, pass it alone"
    assert refusal(["data/a.parquet", "data/*.parquet"]) == f"data: there is no file 'data/*.parquet'{alone}"
    assert refusal([Path("data/*.parquet")]) == f"data: there is no file 'data/*.parquet'{alone}"
    assert refusal([Path("data/a.parquet"), Path("gone")]) == "data: there is no file 'gone'"
    assert refusal(["data/*.parquet"]).endswith(alone)
    assert refusal(["data/a.parquet", "data"]).startswith("data: all files must end alike")
    Path("empty").mkdir()
    assert refusal("empty") == "data: the directory 'empty' holds no files; name one that does"
    Path("data/b.csv").write_text("a\n1\n")
    assert refusal("data") == (
        "data: all files must end alike, and there are several endings (.csv, .parquet); name one kind"
    )
    Path("data/b.csv").unlink()
    Path("data/2025").mkdir()
    assert refusal("data") == (
        "data: the directory 'data' holds directories; name the files, such as 'data/**/*.parquet'"
    )


@pytest.mark.parametrize("link", [os.link, os.symlink, None])
def test_rows_never_count_twice(link: Callable[[str, str], None] | None) -> None:
    np.save("a.npy", TABLE)
    names = ["a.npy", "./a.npy"]
    if link is not None:
        link("a.npy", "b.npy")
        names = ["a.npy", "b.npy"]
    assert "is 'a.npy' again, and its rows would count twice; name it once" in refusal(names)


def test_files_without_rows_are_fine_as_long_as_one_has_some() -> None:
    Path("a.csv").write_text("x\n")
    Path("b.csv").write_text("x\n7\n")
    assert next(open_rows("?.csv").blocks()).tolist() == [[7]]
    assert "0 rows × 1 columns" in refusal(["a.csv"])


@pytest.mark.parametrize("first", ["a.csv", Path("a.csv"), Path("gone.csv"), Path("gone")])
def test_a_text_beside_paths_may_be_a_cell_and_is_not_repeated(first: Any) -> None:
    Path("a.csv").write_text("x\n7\n")
    for data in ([first, "canary48151623"], ["canary48151623", first], [first, Path("a.csv"), "canary48151623"]):
        assert refusal(data).startswith("data: a list of texts is taken for paths of files, which must be there and")


def test_the_text_of_a_table_is_not_taken_for_a_pattern_and_not_repeated() -> None:
    assert "there is no file of that name" in refusal("a,b\n*,canary48151623\n")
    assert "there is no file of that name" in refusal("*canary48151623" * 100)


@pytest.mark.parametrize(
    "cells",
    [
        ["canary48151623"],
        ["canary.48151623", "other.canary"],
        ["a.csv", "b.48151623"],
        ["canary.csv", "48151623.csv"],
        ["canary", "canary"],  # a directory
        ["48151623.txt"],  # a file that is not read
        ["canary.zip", "48151623.gz"],
    ],
)
def test_a_list_of_cells_is_not_repeated(cells: list[str]) -> None:
    Path("a.csv").write_text("x\n7\n")
    Path("canary").mkdir()
    Path("48151623.txt").touch()
    said = refusal(cells)
    assert said.startswith("data: a list of texts is taken for paths of files")
    assert "canary" not in said
    assert "48151623" not in said
