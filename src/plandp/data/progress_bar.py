"""Progress bars of public totals: rows, the bytes of their numbers, or hundredths; never of what is stored.

How long a CSV, Parquet or Arrow file is follows from the cells that are in it.  The bytes that are shown of files are
those of its numbers once they are read, 8 for every cell, which follow from the public shape.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Reach = Callable[[int, int], None]
"""Tells a bar how far one is: a part, and the whole."""

_HUNDREDTHS = 100
_THOUSAND = 1000
_BYTES_PER_CELL = 8  # of float64


def bar_of_hundredths(description: str) -> AbstractContextManager[Reach]:
    """Show a bar on standard error, and return a function of (part, whole) that tells how far one is.

    Guarantee: it goes from 0 to 100 one by one, whatever the parts are; only when it does depends on them.
    """
    return _bar(_HUNDREDTHS, description, unit="%")


def bar_of_rows(description: str, n: int) -> AbstractContextManager[Reach]:
    """Show a bar over a public number of rows on standard error, and return a function as `bar_of_hundredths` does.

    Guarantee: it goes from 0 to n by hundredths of n, whatever the parts are; only when it does depends on them.
    """
    return _bar(n, description, unit=" rows")


def bar_of_bytes(description: str, n: int, d: int) -> AbstractContextManager[Reach]:
    """Show a bar over the bytes of n × d numbers on standard error, and return a function as `bar_of_hundredths` does.

    Guarantee: that of `bar_of_rows`, in bytes; the shape is public.
    """
    return _bar(_BYTES_PER_CELL * n * d, description, unit="B")


@contextmanager
def count_of_rows(description: str) -> Iterator[Callable[[int], None]]:
    """Show on standard error how many rows there are so far, and return a function that is told of more.

    Guarantee: it goes by thousands and then to all, however rows are cut into batches; only when it does depends on it.
    """
    from tqdm.auto import tqdm

    with tqdm(desc=description, unit=" rows", unit_scale=True, leave=False) as bar:
        seen = shown = 0

        def add(rows: int) -> None:
            nonlocal seen, shown
            seen += rows
            while seen - shown >= _THOUSAND:
                shown += _THOUSAND
                bar.update(_THOUSAND)

        yield add
        bar.update(seen - shown)


@contextmanager
def _bar(total: int, description: str, *, unit: str) -> Iterator[Reach]:
    from tqdm.auto import tqdm

    with tqdm(total=total, desc=description, unit=unit, unit_scale=unit != "%", leave=False) as bar:
        shown = 0

        def reach(part: int, whole: int) -> None:
            nonlocal shown
            while shown < min(_HUNDREDTHS * part // max(whole, 1), _HUNDREDTHS):
                shown += 1
                bar.update(total * shown // _HUNDREDTHS - total * (shown - 1) // _HUNDREDTHS)

        yield reach
        reach(1, 1)  # also where there was nothing to read
