"""The compiler, when there is one: Numba is an extra, and everything works without it."""

from collections.abc import Callable
from functools import cache, wraps
from types import FunctionType
from typing import Any

from plandp.kernels.kept_code import keep_whole
from plandp.kernels.made_from import made_from

Loop = Callable[..., None]
"""A function of arrays and numbers that writes to some of the arrays."""

IN_ANY_ORDER = "plus_square"
"""What a loop calls for a sum that may be added in any order: never what a row adds, only a first look at it."""

INSTRUCTION = "_instruction"
"""What comes after the name of a function of a loop's file, in the name of the one that makes machine code for it.

In the same file, since kept machine code is used until a function or a number of that file changes.
"""

ASKS_MEMORY = "ask_memory"
"""What a loop calls for an array and a place, to have memory fetch what it will read soon: it changes no number."""


@cache
def compiled(loop: Loop) -> Loop | None:
    """The loop as machine code, or None without Numba, or where NUMBA_DISABLE_JIT has it compile nothing.

    No fast-math, hence no fused multiply-add and no reordering: each operation rounds as NumPy's does, so that what a
    row adds is the same, bit for bit, with and without the compiler.  Only `IN_ANY_ORDER` may be reordered.
    """
    try:
        from numba import config, njit
    except ImportError:
        return None
    if getattr(config, "DISABLE_JIT", 0):  # a name that is made at run time
        return None
    parts = {
        name: _instruction(name, part) or njit(error_model="numpy", fastmath=_freedom(name))(part)
        for name, part in _parts(loop)
    }
    source = loop
    if parts:  # a copy that calls machine code; the loop itself still runs as Python
        loop = wraps(loop)(FunctionType(loop.__code__, {**loop.__globals__, **parts}))
    try:
        machine_code: Loop = njit(cache=True, nogil=True, error_model="numpy")(loop)
        keep_whole(machine_code, made_from(source, beside=globals()))
    except Exception:  # no folder to keep it in, a path that Numba takes for a zip, a Numba that keeps it in other ways
        machine_code = njit(nogil=True, error_model="numpy")(loop)

    @wraps(loop)
    def run(*arguments: Any) -> None:
        try:
            machine_code(*arguments)
        except OSError:
            # Compiled, but the disk has no room to keep it; no loop raises this, so it has not run.  What is compiled
            # follows from the rows (are they clean?), so it must not decide whether there is a release.
            machine_code(*arguments)

    return run


def _parts(loop: Loop) -> list[tuple[str, FunctionType]]:
    """The functions of its own file that a loop calls; they call no others, and follow changes as the loop does."""
    if not isinstance(loop, FunctionType):
        return []
    named = ((name, loop.__globals__.get(name)) for name in loop.__code__.co_names)
    return [
        (name, part) for name, part in named if isinstance(part, FunctionType) and part.__module__ == loop.__module__
    ]


def _freedom(name: str) -> set[str]:
    return {"reassoc"} if name == IN_ANY_ORDER else set()


def _instruction(name: str, part: FunctionType) -> Any:
    """Machine code for a part that its file has, or that is known here; None where Numba makes it."""
    if name == ASKS_MEMORY:
        return _memory_asker()
    own = part.__globals__.get(name + INSTRUCTION)
    return _intrinsic(own) if isinstance(own, FunctionType) and own.__module__ == part.__module__ else None


@cache
def _intrinsic(own: FunctionType) -> Any:
    from numba.extending import intrinsic

    return intrinsic(own)


@cache
def _memory_asker() -> Any:
    """The processor's own instruction for it, which Numba has no name for."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import types
    from numba.extending import intrinsic

    def ask_memory(_: Any, array: Any, place: Any) -> Any:
        def instruct(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            values = context.make_array(signature.args[0])(context, builder, arguments[0])
            address = builder.bitcast(builder.gep(values.data, [arguments[1]]), ir.IntType(8).as_pointer())
            number = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
            fetch = builder.module.declare_intrinsic("llvm.prefetch", (address.type,), kind)
            builder.call(fetch, [address, number(0), number(2), number(1)])  # to read, not into the nearest cache, data
            return context.get_dummy_value()

        return types.void(array, place), instruct

    return intrinsic(ask_memory)
