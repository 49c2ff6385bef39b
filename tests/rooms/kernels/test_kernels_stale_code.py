"""Compiled code that was kept is used again while its file is the same: nothing from elsewhere may be built into it."""

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import plandp.kernels

LOOPS = [
    function
    for module in pkgutil.iter_modules(plandp.kernels.__path__)
    if module.name not in ("compiler", "kept_code", "made_from")
    for function in vars(importlib.import_module(f"plandp.kernels.{module.name}")).values()
    if isinstance(function, FunctionType)
]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of all functions within it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


def names_from_elsewhere(loop: FunctionType, module: ModuleType) -> set[str]:
    """The names that the loop looks up outside of itself, but for NumPy and what its own file assigns or defines."""
    assigned = {
        target.id
        for line in ast.parse(inspect.getsource(module)).body
        if isinstance(line, ast.Assign)
        for target in line.targets
        if isinstance(target, ast.Name)
    }
    assigned |= {line.name for line in ast.parse(inspect.getsource(module)).body if isinstance(line, ast.FunctionDef)}
    looked_up = {
        name: loop.__globals__[name]
        for code in _codes(loop.__code__)
        for name in (*code.co_names, *code.co_freevars)
        if name in loop.__globals__
    }
    found = {name for name, value in looked_up.items() if value is not np and value is not Any}
    found |= set(inspect.getclosurevars(loop).nonlocals)
    return found - assigned


def test_there_are_loops() -> None:
    assert len(LOOPS) >= 17
    assert all(loop.__module__.startswith("plandp.kernels.") for loop in LOOPS)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_a_loop_uses_no_constant_of_another_file(loop: FunctionType) -> None:
    # Numba keeps compiled code until the file of the loop changes; a number that was imported could be an old one
    assert names_from_elsewhere(loop, importlib.import_module(loop.__module__)) == set()


@pytest.mark.parametrize(
    "loop",
    [
        "def loop(x):\n    x[0] = BUCKET_SHIFT + OWN",
        "def loop(x):\n    def part():\n        x[0] = BUCKET_SHIFT + OWN",
    ],
    ids=["in the loop", "in a function within it"],
)
def test_an_imported_constant_would_be_found(loop: str) -> None:
    source = f"from plandp.kernels.norm_cells import BUCKET_SHIFT\nOWN = 3\n{loop}\n"
    module = ModuleType("planted")
    exec(source, vars(module))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspect, "getsource", lambda _: source)
        assert names_from_elsewhere(vars(module)["loop"], module) == {"BUCKET_SHIFT"}
