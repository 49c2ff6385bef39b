"""Runs loops on arrays that end where memory ends: whoever reads a number behind them is stopped by the system.

Asking for memory there is no reading: processors leave such a question unanswered.
"""

import ctypes
import mmap
import sys
from typing import Any

import numpy as np

from plandp.data.csv_text import powers_of_ten
from plandp.kernels.compiler import compiled
from plandp.kernels.decimal_cells import END, read_cells
from plandp.kernels.norm_cells import AHEAD
from plandp.kernels.side_by_side import lay_rows
from plandp.kernels.struct_ends import DEEPEST, find_ends
from plandp.mechanisms.norm_cells import CellSums, NormCells
from plandp.mechanisms.recentred import Recentred

NOBODY = 0  # PROT_NONE: who may read a page

SHAPES = [(1, 1), (7, 3), (40, 8), (1025, 9), (2049, 5), (40, AHEAD // 2), (5, AHEAD), (9, 1500)]


def at_the_end(values: Any) -> Any:
    """Return a copy, the last byte of which is followed by a page that nobody may read."""
    pages = -(-values.nbytes // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    end = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + pages * mmap.PAGESIZE
    assert ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(end), mmap.PAGESIZE, NOBODY) == 0
    copy = np.frombuffer(memory, values.dtype, values.size, pages * mmap.PAGESIZE - values.nbytes)
    copy[:] = values.ravel()
    return copy.reshape(values.shape)


def compare(n: int, d: int) -> None:
    """Add up all rows, and some, from memory that ends behind them: by row, by column, and laid side by side."""
    table = np.random.default_rng(n * d).normal(size=(n, d))
    view = Recentred(
        low=np.full(d, -9.0), high=np.full(d, 9.0), missing=None, center=np.zeros(d), factor=np.ones(d) / np.sqrt(d)
    )
    cells = NormCells.around(1.0, lowest=1e-3, highest=30.0, d=d, points=2**16)
    function = CellSums(view=view, cells=cells, squared=False, wide=False)
    rows, columns, begins = at_the_end(table), at_the_end(table.T).ravel(), n * np.arange(d)
    assert_equal(function(rows), function(table))
    found = function(table[:0])
    function.add_columns(found, columns, begins, range(n))
    assert_equal(found, function(table))
    for count in {1, n - n // 3, n}:
        chosen = at_the_end(np.sort(np.random.default_rng(count).choice(n, count, replace=False)))
        found = function(table[:0])
        function.add_to(found, rows, chosen)
        assert_equal(found, function(table[chosen]))
        laid, loop = at_the_end(np.zeros((count, d))), compiled(lay_rows)
        assert loop is not None
        loop(columns, begins, 0, chosen, laid, 0)
        np.testing.assert_array_equal(laid, table[chosen])


def compare_types(n: int, d: int) -> None:
    """Add up numbers of other types, which are read several at a time, from memory that ends behind them."""
    for kind in (np.float32, np.int64, np.int16, np.uint8):
        table = np.random.default_rng(n + d).integers(0, 100, (n, d)).astype(kind)
        view = Recentred(
            low=np.zeros(d), high=np.full(d, 90.0), missing=None, center=np.full(d, 40.0), factor=np.ones(d)
        )
        cells = NormCells.around(40.0 * np.sqrt(d), lowest=1e-3, highest=1e5, d=d, points=2**16)
        function = CellSums(view=view, cells=cells, squared=False, wide=False)
        by_row, by_column = function(np.empty((0, d))), function(np.empty((0, d)))
        function.add_stored(by_row, at_the_end(table))
        function.add_columns(by_column, at_the_end(table.T).ravel(), n * np.arange(d), range(n))
        assert_equal(by_row, function(table.astype(np.float64)))
        assert_equal(by_column, by_row)


def read_to_the_end(text: bytes) -> None:
    """Read cells of a text behind which there is nothing, whatever it breaks off in."""
    loop, shape = compiled(read_cells), (1 + text.count(b"\n"), 2)
    assert loop is not None
    lines = [0, *(place + 1 for place, byte in enumerate(text) if byte == END)]
    values, left = np.zeros(shape), np.zeros(shape, np.bool_)
    own = at_the_end(np.frombuffer(text, np.uint8)) if text else np.empty(0, np.uint8)
    public = powers_of_ten(), np.ldexp(1.0, np.arange(-512, 512))
    begins, spans = np.array(lines), np.zeros((*shape, 2), np.int64)
    loop(own, begins, np.arange(2), ord(","), *public[0], public[1], values, left, spans)
    assert (spans <= len(text)).all()


def find_to_the_end(text: bytes) -> None:
    """Look for the ends of structs in a text behind which there is nothing."""
    loop, ends = compiled(find_ends), np.zeros(3, np.int64)
    assert loop is not None
    loop(at_the_end(np.frombuffer(text, np.uint8)), ends, np.empty(DEEPEST, np.int64))
    assert (ends <= len(text)).all()


def assert_equal(found: tuple[Any, ...], wanted: tuple[Any, ...]) -> None:
    """See that all sums are the same."""
    for one, same in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, same)


if __name__ == "__main__":
    for n, d in SHAPES:
        compare(n, d)
    for n, d in SHAPES[:5]:
        compare_types(n, d)
    for end in (b"", b"-", b"1", b"1.", b".", b"1.5e", b"1e-", b"1e5", b"x", b"\r", b"1,", b"1\n", b"1,2,", b"9" * 40):
        for begin in (b"", b"1,", b"1,2\n", b"1,2,"):
            read_to_the_end(begin + end)
    for kind in range(16):
        for rest in (b"", b"\xff", b"\xff" * 12, b"\xff" * 8 + b"\x7f", b"\x0c", b"\xfc\x03", b"\x03\0\0", b"\x7f"):
            find_to_the_end(bytes([16 + kind]) + rest)
            find_to_the_end(bytes([kind, 2]) + rest)
    sys.stdout.write("all within\n")
