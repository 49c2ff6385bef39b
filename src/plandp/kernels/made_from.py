"""What machine code is made from, by what this process has in memory: files may have changed since it began."""

import sys
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from inspect import unwrap
from types import CodeType, FunctionType
from typing import Any


def made_from(loop: Any, *, beside: Mapping[str, Any]) -> bytes:
    """A digest of a loop, of all functions and numbers of its file and of those `beside` it, and of versions.

    `beside` are the globals of the file that has the loop compiled: how it does so shows in machine code too.
    """
    digest = sha256(repr((*_versions(), _code(loop.__code__))).encode())
    for names in (loop.__globals__, beside):
        for line in _lines(names):
            digest.update(sha256(line.encode()).digest())
    return digest.digest()


@cache
def _versions() -> tuple[str, ...]:
    import llvmlite  # type: ignore[import-untyped]
    import numba
    import numpy

    return sys.version, numba.__version__, llvmlite.__version__, numpy.__version__


def _lines(names: Mapping[str, Any]) -> Iterator[str]:
    """What the file defines, a line for each name; what it imports is left out, but for numbers and texts."""
    for name in sorted(names):
        value = names[name]
        function = unwrap(value) if callable(value) else value  # behind a cache, say
        if isinstance(function, FunctionType):
            if function.__module__ == names["__name__"]:
                yield f"{name}: {_code(function.__code__)} {_constant(function.__defaults__)}"
        elif not name.startswith("__") and _is_plain(value):
            yield f"{name}: {_constant(value)}"


def _is_plain(value: Any) -> bool:
    import numpy

    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, int | float | str | numpy.generic)


def _code(code: CodeType) -> str:
    """The instructions, and what they name and hold; not where they stand."""
    constants = [_constant(value) for value in code.co_consts]
    return repr((code.co_code, code.co_exceptiontable, code.co_names, code.co_varnames, code.co_freevars, constants))


def _constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return _code(value)
    if isinstance(value, tuple | frozenset):
        parts = [_constant(part) for part in value]
        return repr((type(value), parts if isinstance(value, tuple) else sorted(parts)))
    return repr((type(value), value))
