"""Many releases in one process: no memory, no file and no thread stays behind."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("polars")
pytest.importorskip("pyarrow")
pytest.importorskip("sqlalchemy")

import plandp
from plandp_lab.soak import every_kind, soak

TABLE = np.arange(12.0).reshape(6, 2)


def _release() -> plandp.MeanRelease:
    return plandp.mean(TABLE, bounds=(0, 12), rho=1, method="gaussian")


def test_three_hundred_releases_leave_nothing_behind() -> None:
    with every_kind() as kinds:
        assert soak(300, kinds).growth() == []


@pytest.mark.long
def test_ten_thousand_releases_leave_nothing_behind() -> None:
    with every_kind() as kinds:
        assert soak(10_000, kinds).growth() == []


def test_releases_that_are_kept_are_found() -> None:
    kept: list[Any] = []
    # two at a time: one is so little over what is allowed that whatever else the process lets go of could hide it
    found = soak(300, [_release, lambda: kept.extend((_release(), _release()))]).growth()
    assert any(text.startswith("blocks of Python's memory") for text in found)


def test_what_is_loaded_once_is_no_growth() -> None:
    kept: list[Any] = []
    made = iter(range(300))

    def load_once() -> None:
        if next(made) == 200:
            kept.extend([object() for _ in range(9000)])

    assert soak(300, [load_once]).growth() == []


def test_files_that_stay_open_are_found(tmp_path: Path) -> None:
    path = tmp_path / "table.npy"
    np.save(path, TABLE)
    kept: list[Any] = []
    found = soak(60, [_release, lambda: kept.append(path.open("rb"))]).growth()
    for file in kept:
        file.close()
    assert any(text.startswith("open files") for text in found)


def test_threads_that_stay_are_found() -> None:
    end = threading.Event()
    found = soak(60, [_release, lambda: threading.Thread(target=end.wait).start()]).growth()
    end.set()
    assert any(text.startswith("threads") for text in found)


def test_native_memory_that_stays_is_found() -> None:
    kept: list[Any] = []
    found = soak(300, [_release, lambda: kept.append(np.ones(2**16))]).growth()
    assert any(text.startswith("bytes of the process") for text in found)
    assert any(text.startswith("bytes of Python's memory") for text in found)
