"""Planted mistakes: a module with one piece of its source replaced."""

import inspect
import sys
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
