"""Planted mistakes: a module with one piece of its source replaced."""

import inspect
import sys
from collections.abc import Callable
from types import ModuleType


def changed(original: ModuleType, *replacements: tuple[str, str]) -> ModuleType:
    """Load a copy of the module with these pieces of source replaced; each must be there exactly once."""
    source = inspect.getsource(original)
    for line, replacement in replacements:
        assert source.count(line) == 1, f"no longer in the source exactly once: {line}"
        source = source.replace(line, replacement)
    mutant = ModuleType(f"{original.__name__}_mutant")
    sys.modules[mutant.__name__] = mutant  # dataclasses look their module up
    try:
        exec(compile(source, mutant.__name__, "exec"), mutant.__dict__)
    finally:
        del sys.modules[mutant.__name__]
    return mutant


def in_numpy(original: ModuleType, *replacements: tuple[str, str]) -> ModuleType:
    """A changed copy that does not use the compiler: the mistake is in the NumPy code."""
    return with_loop(changed(original, *replacements), None)


def with_loop(module: ModuleType, loop: Callable[..., None] | None) -> ModuleType:
    """The module, using this loop, uncompiled, for the one it would compile; None: its NumPy code."""
    vars(module)["compiled"] = lambda _: loop
    return module
