"""Progress bars in hundredths: how many bytes, entries or blocks there are is nobody's business."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Reach = Callable[[int, int], None]
"""Tells a bar how far one is: a part, and the whole."""

_HUNDREDTHS = 100


@contextmanager
def bar_of_hundredths(description: str) -> Iterator[Reach]:
    """Show a bar on standard error, and return a function of (part, whole) that tells how far one is.

    Guarantee: it goes from 0 to 100 one by one, whatever the parts are; only when it does depends on them.
    """
    from tqdm.auto import tqdm

    with tqdm(total=_HUNDREDTHS, desc=description, unit="%", leave=False) as bar:
        shown = 0

        def reach(part: int, whole: int) -> None:
            nonlocal shown
            while shown < min(_HUNDREDTHS * part // max(whole, 1), _HUNDREDTHS):
                shown += 1
                bar.update()

        yield reach
        reach(1, 1)  # also where there was nothing to read
