"""Machine code that is kept is used for the types and the source it was made of, whoever compiles when."""

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from tempfile import mkstemp
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from plandp.kernels import compiler, kept_code
from plandp.kernels.kept_code import KeptCode
from plandp.kernels.lattice_keys import count_below
from plandp.kernels.made_from import made_from

SOURCE = """
def double_each(values):
    for i in range(len(values)):
        values[i] = 2 * values[i]
"""

# Both begin with nothing and wait for each other: int64 is first to write its index, float64 first to write its code.
COMPILES = """
import sys, time, importlib, pathlib
import numpy as np
from numba.core.caching import IndexDataCacheFile
from plandp.kernels import compiler, kept_code

folder, kind, other, whole = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
sys.path.insert(0, str(folder))
if whole == "no":
    compiler.keep_whole = lambda *_: None
second = {"_save_index": "float64", "_save_data": "int64", "save": "int64"}

def wait_for(mark):
    end = time.monotonic() + 120
    while not (folder / mark).exists() and time.monotonic() < end:
        time.sleep(0.01)

def in_turn(name, write):
    def waiting(store, *arguments):
        (folder / f"{name} {kind} begins").touch()
        wait_for(f"{name} {other} begins")
        if second[name] == kind:
            wait_for(f"{name} {other} ends")
        write(store, *arguments)
        (folder / f"{name} {kind} ends").touch()
    return waiting

store, names = (kept_code.KeptCode, ["save"]) if whole == "yes" else (IndexDataCacheFile, ["_save_index", "_save_data"])
for name in names if other else []:
    setattr(store, name, in_turn(name, getattr(store, name)))
loop = compiler.compiled(importlib.import_module("double_each").double_each)
values = np.arange(3).astype(kind)
loop(values)
print(values.tolist())
"""


def compile_in(folder: Path, *, at_once: bool, whole: bool) -> list[str]:
    """What two processes print that compile the same loop for different types."""
    (folder / "double_each.py").write_text(SOURCE)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    runs = []
    for kind, other in (("float64", "int64"), ("int64", "float64")):
        command = [
            sys.executable,
            "-c",
            COMPILES,
            str(folder),
            kind,
            other if at_once else "",
            "yes" if whole else "no",
        ]
        pipe = subprocess.PIPE
        runs.append(subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True))
    printed = [run.communicate() for run in runs]
    return [out.strip() or error.strip().splitlines()[-1] for out, error in printed]


RIGHT = ["[0.0, 2.0, 4.0]", "[0, 2, 4]"]


def test_two_processes_that_compile_at_once_leave_the_right_code(tmp_path: Path) -> None:
    assert compile_in(tmp_path, at_once=True, whole=True) == RIGHT
    assert len([*tmp_path.glob("__pycache__/*.nbc")]) == 2
    assert [*tmp_path.glob("__pycache__/*.nbi")] == []  # no index of Numba's
    assert compile_in(tmp_path, at_once=False, whole=True) == RIGHT


def test_numbas_own_index_would_leave_the_wrong_code(tmp_path: Path) -> None:
    # why `KeptCode` is there: code for whole numbers is run on floats; should this go red one day, Numba has mended it
    assert compile_in(tmp_path, at_once=True, whole=False) == RIGHT
    assert compile_in(tmp_path, at_once=False, whole=False) != RIGHT


@pytest.fixture
def kept(tmp_path: Path) -> KeptCode:
    return KeptCode(folder=str(tmp_path), name="loop", made_from=b"this source")


def test_code_is_kept_for_its_types(kept: KeptCode) -> None:
    assert kept.load("float64") is None
    kept.save("float64", "code")
    kept.save("int64", "other code")
    assert (kept.load("float64"), kept.load("int64"), kept.load("uint16")) == ("code", "other code", None)
    kept.save("float64", "newer code")
    assert kept.load("float64") == "newer code"
    kept.flush()
    assert kept.load("float64") is None


def test_code_of_other_types_under_the_same_name_is_not_used(kept: KeptCode, tmp_path: Path) -> None:
    kept.save("float64", "code")
    kept._path("float64").rename(kept._path("int64"))
    assert kept.load("int64") is None


def test_code_of_another_source_is_not_used(kept: KeptCode, tmp_path: Path) -> None:
    kept.save("float64", "code")
    assert KeptCode(folder=str(tmp_path), name="loop", made_from=b"that source").load("float64") is None


@pytest.mark.parametrize("length", [0, 1, 31, 32, 33, -1])
def test_a_file_that_is_cut_off_is_not_used(kept: KeptCode, length: int) -> None:
    kept.save("float64", "code")
    path = kept._path("float64")
    path.write_bytes(path.read_bytes()[:length])
    assert kept.load("float64") is None


def test_a_changed_bit_is_seen(kept: KeptCode) -> None:
    kept.save("float64", "code")
    path = kept._path("float64")
    stored = path.read_bytes()
    for place in range(len(stored)):
        path.write_bytes(stored[:place] + bytes([stored[place] ^ 1]) + stored[place + 1 :])
        assert kept.load("float64") is None


def test_a_draft_that_cannot_be_written_leaves_nothing(kept: KeptCode, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        kept.save("float64", (value for value in ()))  # a generator cannot be written down
    assert [*tmp_path.iterdir()] == []


def counts_two(loop: Any) -> bool:
    below = np.zeros(1, np.int64)
    loop(np.array([[1], [3], [5]], np.int32), np.array([4], np.int32), below)
    return below.tolist() == [2]


def test_where_numba_keeps_code_in_another_way_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def another_way(*_: Any) -> None:
        raise AttributeError("_cache_file")

    monkeypatch.setattr(compiler, "keep_whole", another_way)
    assert counts_two(compiler.compiled.__wrapped__(count_below))


@pytest.mark.parametrize("place", ["loops.zip", "a.zipped/loops.pyz"], ids=["a zip", "a folder that sounds like one"])
def test_loops_run_from_a_zip(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # as Spark ships packages to its workers
    (tmp_path / place).parent.mkdir(exist_ok=True)
    with ZipFile(tmp_path / place, "w") as packed:
        packed.write(str(count_below.__code__.co_filename), "zipped_loops.py")
    monkeypatch.syspath_prepend(str(tmp_path / place))
    monkeypatch.delitem(sys.modules, "zipped_loops", raising=False)
    assert counts_two(compiler.compiled.__wrapped__(importlib.import_module("zipped_loops").count_below))


def test_loops_are_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []

    def noted(machine_code: Any, made_of: bytes) -> None:
        kept_code.keep_whole(machine_code, made_of)
        kept.append((machine_code._cache._cache_file, made_of))

    monkeypatch.setattr(compiler, "keep_whole", noted)
    assert counts_two(compiler.compiled.__wrapped__(count_below))
    [(store, made_of)] = kept
    assert isinstance(store, KeptCode)
    assert store._made_from == made_of == made_from(count_below, beside=vars(compiler))


@pytest.mark.parametrize("error", [pickle.PicklingError, OSError, MemoryError, RuntimeError])
@pytest.mark.parametrize("step", ["load", "save", "rebuild", "reduce"])
def test_nothing_about_keeping_code_stops_a_loop(
    step: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # which loops are compiled can follow from rows, so that the error would
    from numba import config
    from numba.core.caching import CompileResultCacheImpl

    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    if step == "rebuild":
        assert counts_two(compiler.compiled.__wrapped__(count_below))  # there is something kept to begin with
    asked: list[str] = []

    def failing(*_: Any) -> Any:
        asked.append(step)
        raise error("no")

    monkeypatch.setattr(KeptCode if step in ("load", "save") else CompileResultCacheImpl, step, failing)
    assert counts_two(compiler.compiled.__wrapped__(count_below))
    assert asked


OTHERS = 65534


def test_a_file_that_others_could_have_written_is_not_used(kept: KeptCode, monkeypatch: pytest.MonkeyPatch) -> None:
    # what is in it is run
    kept.save("float64", "code")
    path = kept._path("float64")
    assert path.stat().st_mode & 0o777 == 0o600
    for mode, used in ((0o666, False), (0o620, False), (0o602, False), (0o644, True)):
        path.chmod(mode)
        assert kept.load("float64") == ("code" if used else None)
    if os.geteuid() == 0:
        os.chown(path, OTHERS, OTHERS)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: OTHERS)
    assert kept.load("float64") is None


@pytest.mark.parametrize("content", [b"cnosuch.module\nname\n.", b"", pickle.dumps(3), pickle.dumps((1, 2, 3))])
def test_a_file_that_tells_nothing_raises_nothing(kept: KeptCode, content: bytes) -> None:
    kept._path("float64").write_bytes(kept._digest(content) + content)
    kept._path("float64").chmod(0o600)
    assert kept.load("float64") is None


def test_a_draft_of_somebody_else_is_left_alone(
    kept: KeptCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # two machines that share a folder can have the same numbers of processes
    monkeypatch.setattr(os, "getpid", lambda: 7)
    drafts: list[Path] = []

    def other_draft(*arguments: Any, **named: Any) -> tuple[int, str]:
        handle, name = mkstemp(*arguments, **named)
        drafts.append(Path(name))
        return handle, name

    monkeypatch.setattr(kept_code, "mkstemp", other_draft)
    kept.save("float64", "code")
    kept.save("int64", "code")
    assert len(set(drafts)) == 2
    assert sorted(tmp_path.iterdir()) == sorted([kept._path("float64"), kept._path("int64")])


CHANGES_ITS_FILE = """
import sys, pathlib
import numpy as np
sys.path.insert(0, sys.argv[1])
import double_each
from plandp.kernels.compiler import compiled
path = pathlib.Path(double_each.__file__)
path.write_text(path.read_text().replace("2", sys.argv[2]))
values = np.ones(1)
compiled(double_each.double_each)(values)
print(values[0])
"""


def test_code_of_a_file_that_changed_before_it_was_compiled_is_not_used_for_the_new_file(tmp_path: Path) -> None:
    # an upgrade while a process runs, which compiles its loops when it first needs them
    (tmp_path / "double_each.py").write_text(SOURCE)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONDONTWRITEBYTECODE": "1"}
    printed = [
        subprocess.run(
            [sys.executable, "-c", CHANGES_ITS_FILE, str(tmp_path), "3"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert printed == ["2.0", "3.0"]
