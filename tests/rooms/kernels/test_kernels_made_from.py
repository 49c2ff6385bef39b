"""What machine code is made from: every change of it is seen, and nothing else is."""

import subprocess
import sys
from typing import Any

import numba
import numpy as np
import pytest

from plandp.kernels import compiler
from plandp.kernels import made_from as made_from_file
from plandp.kernels.made_from import made_from

SOURCE = """
import numpy as np
from functools import cache

TIMES = 2
PLACES = (np.float32(0.5), 3)

def part(x):
    return x + 1.5

def add_instruction(x):
    def instruct(y):
        return y * "llvm"
    return instruct

@cache
def behind_a_cache(x):
    return x - 1

def loop(x, start=0):
    for i in range(start, len(x)):
        x[i] = part(x[i]) * TIMES if x[i] in (1.0, 2.0) else 7.25
"""
COMPILER = """
ORDER = "plus_square"

def compiled(loop):
    return njit(nogil=True, fastmath=False)(loop)
"""


def file_of(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "a_file", "__file__": "somewhere"}
    exec(source, names)
    return names


def stamp(source: str = SOURCE, compiler_source: str = COMPILER) -> bytes:
    return made_from(file_of(source)["loop"], beside=file_of(compiler_source))


def test_the_same_source_has_the_same_stamp() -> None:
    assert stamp() == stamp()
    assert stamp("# a line more, and a comment\n" + SOURCE) == stamp()  # lines and files are no part of it
    loop = file_of(SOURCE)["loop"]
    before = made_from(loop, beside={})
    for _ in range(200):  # Python rewrites what runs often
        loop(np.ones(3))
    assert made_from(loop, beside={}) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("TIMES = 2", "TIMES = 3"),
        ("TIMES = 2", "TIMES = 2.0"),
        ("np.float32(0.5)", "np.float64(0.5)"),
        ("0.5), 3)", "0.5), 4)"),
        ("x + 1.5", "x + 1.25"),
        ("x + 1.5", "x - 1.5"),
        ('y * "llvm"', 'y * "lvm"'),
        ("x - 1", "x - 2"),
        ("7.25", "7.5"),
        ("(1.0, 2.0)", "(1.0, 3.0)"),
        ("start=0", "start=1"),
        ("part(x[i])", "behind_a_cache(x[i])"),
    ],
)
def test_every_change_of_the_file_is_seen(old: str, new: str) -> None:
    assert old in SOURCE
    assert stamp(SOURCE.replace(old, new)) != stamp()


@pytest.mark.parametrize(("old", "new"), [("fastmath=False", "fastmath=True"), ("plus_square", "plus")])
def test_every_change_of_the_way_of_compiling_is_seen(old: str, new: str) -> None:
    assert stamp(compiler_source=COMPILER.replace(old, new)) != stamp()


def test_a_loop_that_its_file_does_not_name_is_seen() -> None:
    names = file_of(SOURCE)
    loops = [eval(f"lambda x: x + {number}", names) for number in (1, 2)]
    assert made_from(loops[0], beside={}) != made_from(loops[1], beside={})


@pytest.mark.parametrize("package", ["numba", "llvmlite", "numpy"])
def test_another_version_is_seen(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stamp()
    monkeypatch.setattr(sys.modules[package], "__version__", "0.0.1")
    made_from_file._versions.cache_clear()
    try:
        assert stamp() != before
    finally:
        made_from_file._versions.cache_clear()


def test_stamps_do_not_change_from_process_to_process() -> None:
    tell = (
        "from plandp.kernels import compiler, norm_cells, tail_curves; from plandp.kernels.made_from import made_from; "
        "print([made_from(loop, beside=vars(compiler)).hex() "
        "for loop in (norm_cells.add_up_cells, tail_curves.learn_from_count)])"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", tell], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1


def plain_sum(total: float, value: float) -> float:
    return total + value * value


def add_squares(values: Any, out: Any) -> None:
    total = 0.0
    for i in range(len(values)):
        total = plain_sum(total, values[i])
    out[0] = total


def test_parts_of_loops_are_added_from_the_left_and_products_are_not_fused() -> None:
    values = np.random.default_rng(1).normal(size=1001)
    found, expected = np.zeros(1), np.zeros(1)
    loop = compiler.compiled.__wrapped__(add_squares)
    assert loop is not None
    loop(values, found)
    add_squares(values, expected)
    assert found[0] == expected[0]
    freely = np.zeros(1)  # the table has teeth: another order, or fused products, give another sum
    numba.njit(fastmath=True)(_all_at_once)(values, freely)
    assert freely[0] != expected[0]


def _all_at_once(values: Any, out: Any) -> None:
    total = 0.0
    for i in range(len(values)):
        total += values[i] * values[i]
    out[0] = total
