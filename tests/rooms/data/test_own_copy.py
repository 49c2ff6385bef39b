"""Which plandp a process has: the same wherever the same source lies, and another if a letter of it is."""

import compileall
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import plandp
from plandp.data import own_copy as own_copy_file
from plandp.data.own_copy import PlandpCopy, for_same_copy, own_copy, run_if_same, tells_another_copy

PACKAGE = Path(plandp.__file__).parent

TOLD = """
import sys
from importlib import metadata

def unknown(name):
    raise metadata.PackageNotFoundError(name)  # nothing was installed: Spark ships the package alone

metadata.version = unknown
sys.meta_path = [finder for finder in sys.meta_path if "editable" not in repr(finder).lower()]
sys.path.insert(0, sys.argv[1])
from plandp.data import own_copy

assert own_copy.__file__.startswith(sys.argv[1]), own_copy.__file__
found = own_copy.own_copy()
print(found.source, repr(found.version))
"""


def copied(folder: Path) -> Path:
    """Copy the source, as an installation does."""
    shutil.copytree(PACKAGE, folder / "plandp", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def told(place: Path) -> list[str]:
    """What a process says that finds the package at this place."""
    found = subprocess.run([sys.executable, "-c", TOLD, str(place)], capture_output=True, text=True, check=True)
    return found.stdout.split()


@pytest.mark.parametrize("zipped", [False, True])
def test_the_same_source_is_the_same_plandp(tmp_path: Path, zipped: bool) -> None:
    place = copied(tmp_path / "copy")
    if zipped:
        place = Path(shutil.make_archive(str(tmp_path / "shipped"), "zip", place, "plandp"))
    assert told(place) == [own_copy().source, "''"]


def test_what_was_compiled_of_a_source_does_not_count(tmp_path: Path) -> None:
    """It names where it lay and when: else the same source would be refused, and a worker's first import change it."""
    place = copied(tmp_path / "copy")
    assert compileall.compile_dir(place, quiet=1)
    assert list(place.rglob("__pycache__/*.pyc"))
    assert told(place)[0] == own_copy().source


@pytest.mark.parametrize("zipped", [False, True])
def test_another_source_is_another_plandp(tmp_path: Path, zipped: bool) -> None:
    """A letter in the depth, a file more, one moved, one renamed: the version is the same for all of them."""
    place = copied(tmp_path / "copy")
    seen = {own_copy().source}

    def changed() -> str:
        there = Path(shutil.make_archive(str(tmp_path / str(len(seen))), "zip", place, "plandp")) if zipped else place
        return told(there)[0]

    deep = place / "plandp/ledger/migrations/versions"
    assert deep.is_dir()
    letter = next(deep.glob("*.py"))
    letter.write_bytes(letter.read_bytes() + b"#")
    seen.add(changed())
    (place / "plandp/more.py").write_bytes(b"")
    seen.add(changed())
    (place / "plandp/more.py").rename(place / "plandp/data/more.py")
    seen.add(changed())
    (place / "plandp/data/more.py").rename(place / "plandp/data/morf.py")  # the next name, also in their order
    seen.add(changed())
    assert len(seen) == 5
    (place / "plandp/data/morf.py").rename(place / "plandp/data/more.txt")
    assert changed() in seen  # what is no source does not count


def test_copies_without_source_are_told_apart_too(tmp_path: Path) -> None:
    place = copied(tmp_path / "copy")
    seen = set()
    for text in ("", "\nOTHER = 1\n"):
        with (place / "plandp" / "errors.py").open("a") as file:
            file.write(text)
        bare = tmp_path / f"bare {len(seen)}"
        shutil.copytree(place, bare)
        assert compileall.compile_dir(bare, legacy=True, quiet=1, stripdir=bare)
        for path in bare.rglob("*.py"):
            path.unlink()
        seen.add(told(bare)[0])
    assert len(seen) == 2


def test_a_copy_is_named_by_its_version_and_its_source() -> None:
    assert str(PlandpCopy(version="0.1.0", source="0123456789abcdef")) == "0.1.0 (source 01234567)"
    assert str(PlandpCopy(version="", source="0123456789abcdef")) == "of no version (source 01234567)"


def test_what_is_sent_runs_where_the_source_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pickle.loads(pickle.dumps(for_same_copy(len)))("abc") == 3
    unversioned = PlandpCopy(version="", source=own_copy().source)
    assert run_if_same(unversioned, "", len, "abc") == 3
    monkeypatch.setattr(own_copy_file, "files", None)  # sources are read once a process, not with every task
    assert for_same_copy(len)("abc") == 3


def test_what_was_sent_by_another_source_is_not_run_and_the_error_shows_no_argument(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ran: list[str] = []
    with monkeypatch.context() as there:
        there.setattr(own_copy_file, "own_copy", lambda: PlandpCopy(version="0.1.0", source="7" * 64))
        sent = pickle.dumps(for_same_copy(ran.append)), for_same_copy(ran.append)
    for function in (pickle.loads(sent[0]), sent[1]):
        with pytest.raises(
            RuntimeError, match=r"^this worker has another source of plandp.*\(source 77777777\)$"
        ) as told:
            function("48.151623")
        assert "48.15" not in str(told.value)
        assert tells_another_copy(told.value)
    assert ran == []


def test_all_of_a_digest_is_compared() -> None:
    own = own_copy().source
    almost = own[:-1] + ("0" if own[-1] != "0" else "1")
    with pytest.raises(RuntimeError, match=r"^this worker has another source of plandp"):
        run_if_same(PlandpCopy(version=own_copy().version, source=almost), "", len, "abc")


def test_functions_go_to_workers_through_two_doors_alone() -> None:
    """A new place in this list must send what is no part of plandp, or only ask for the copy."""
    found = {
        path.name: len(re.findall(r"\.mapIn\w+\(|\bdelayed\(|\bmap_(?:blocks|partitions)\(", path.read_text()))
        for path in (PACKAGE / "data").glob("*.py")
    }
    assert {name: times for name, times in found.items() if times} == {
        "dask_collections.py": 1,  # the lengths of chunks, by Python's own function
        "dask_parts.py": 3,  # the door, and twice what tasks are given
        "dask_workers.py": 2,  # the asking
        "engine_rows.py": 1,  # in a message
        "spark_parts.py": 1,  # the door
        "spark_workers.py": 1,  # the asking
    }
