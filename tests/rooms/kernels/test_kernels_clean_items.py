"""Items that break a rule are found wherever they are, also where one stretch of comparisons ends."""

import numpy as np
import pytest

from plandp.kernels.clean_items import AT_A_TIME, find_unclean
from plandp.kernels.compiler import compiled

D = 3 * AT_A_TIME
PLACES = [1, AT_A_TIME - 1, AT_A_TIME, AT_A_TIME + 1, 2 * AT_A_TIME, D - 1]


def unclean(items: np.ndarray, begin: list[int]) -> bool:
    found = np.zeros(1, np.bool)
    loop = compiled(find_unclean)
    assert loop is not None
    loop(np.array(begin, np.int32), items.astype(np.int32), np.full(D, -1, np.int32), found)
    return bool(found[0])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("outside", [-1, D, 2**31 - 1, -(2**31)])
def test_an_item_outside_the_columns_is_found(place: int, outside: int) -> None:
    items = np.arange(D)
    assert not unclean(items, [0, D])
    items[place] = outside
    assert unclean(items, [0, D])


@pytest.mark.parametrize("place", PLACES)
def test_an_item_that_is_twice_in_a_row_is_found(place: int) -> None:
    items = np.arange(D)
    items[place] = items[place - 1]
    assert unclean(items, [0, D])
    assert not unclean(items, [0, place, D])  # of two rows each holds it once
    assert unclean(items, [0, place + 1, D] if place + 1 < D else [0, D])
    assert not unclean(items[::-1], [0, D - place, D])  # not sorted, and still once a row
    assert unclean(items[::-1], [0, 0, D])


def test_only_what_rows_hold_is_looked_at() -> None:
    items = np.arange(D)
    items[[0, -1]] = -1
    assert not unclean(items, [1, D - 1])
    assert not unclean(items[:0], [0, 0])
    assert not unclean(items[1:2], [0, 1])
    assert unclean(items[:1], [0, 1])
