"""Norms are added from the left, the same bits with and without the compiler, whatever a row holds."""

import math

import numpy as np
import pytest

from plandp.mechanisms import row_norms
from plandp.mechanisms.recentred import Recentred
from plandp.mechanisms.row_norms import RowNorms


@pytest.mark.parametrize("d", [1, 5, 33, 257])
@pytest.mark.parametrize("missing", [None, 0.25])
def test_norms_are_those_of_a_plain_loop_to_the_last_bit(
    d: int, missing: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(d)
    table = rng.normal(size=(40, d)) * np.exp(rng.normal(0, 3, (40, 1)))
    table[1], table[2], table[3, 0], table[4] = np.nan, np.inf, np.nan, 1.7e308
    view = Recentred(
        low=np.full(d, -9.0),
        high=np.full(d, 8.0),
        missing=None if missing is None else np.full(d, missing),
        center=np.full(d, 0.1),
        factor=np.full(d, 1.3),
    )
    expected = []
    with np.errstate(all="ignore"):
        for row in view(table):
            squares = 0.0
            for value in row.tolist():
                squares += value * value
            expected.append(math.sqrt(squares))
        found = RowNorms(view=view)(table)
        monkeypatch.setattr(row_norms, "compiled", lambda _: None)
        monkeypatch.setattr(row_norms, "TILE", 3 * d)
        in_numpy = RowNorms(view=view)(table)
    assert found.shape == (40, 1)
    assert found[:, 0].tolist() == in_numpy[:, 0].tolist() == expected
