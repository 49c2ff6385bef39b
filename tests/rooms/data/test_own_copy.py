"""Which plandp a process has: the same wherever the same source lies, and another if a letter of it is."""

import compileall
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import plandp
from plandp.data.own_copy import PlandpCopy, own_copy

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
