"""Keys that are held and keys that are streamed answer alike; which of them is decided by public sizes."""

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.mechanisms import lattice_counts, rank_histogram, viewed_keys
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.ranked import HeldKeys, StreamedKeys


def doubled(block: np.ndarray) -> np.ndarray:
    return np.hstack([2.0 * block, block])


@pytest.mark.parametrize("way", ["compiled", "NumPy"])
@pytest.mark.parametrize("tile", [6, 600, 2**15], ids=["a row", "some rows", "all rows"])
def test_held_and_streamed_keys_answer_alike(tile: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_histogram, "TILE", tile)
    if way == "NumPy":
        monkeypatch.setattr(lattice_counts, "compiled", lambda loop: None)
    table = np.random.default_rng(1).normal(0, 3, (500, 3))
    table[7, 1] = np.nan
    cells = np.full(6, 2.0**10)
    lattice = Lattice(low=np.full(6, -5.0), high=np.full(6, 5.0), step=10.0 / cells, cells=cells)
    held = viewed_keys.viewed_keys(open_rows(table), lattice, view=doubled)
    monkeypatch.setattr(viewed_keys, "HELD", 500 * 6 * 2 - 1)  # keys of 2^10 cells take two bytes
    streamed = viewed_keys.viewed_keys(open_rows(table), lattice, view=doubled)
    assert (type(held), type(streamed)) == (HeldKeys, StreamedKeys)
    assert held.count == streamed.count == 500
    for threshold in (512.0, 256.0, 700.0, 0.0, 1023.0):
        at = np.full(6, threshold)
        expected = 2 * np.count_nonzero(lattice.keys(doubled(table), None) < at, axis=0) + np.array([0, 1, 0] * 2)
        assert held.twice_below(at).tolist() == streamed.twice_below(at).tolist() == expected.tolist()
