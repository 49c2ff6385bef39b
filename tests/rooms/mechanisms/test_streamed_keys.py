"""Streamed keys answer as held ones do, whatever is asked, and read the rows as seldom as promised."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from plandp.data.open import open_rows
from plandp.mechanisms import rank_histogram, ranked
from plandp.mechanisms.lattice import Lattice
from plandp.mechanisms.quantiles import BinarySearch, ExponentialMechanism
from plandp.mechanisms.ranked import HeldKeys, StreamedKeys
from plandp.noise.meter import open_door

CELLS = np.array([1024.0, 1000.0, 2.0, 1.0, 2.0**40])


def table(n: int = 60) -> Any:
    values = np.random.default_rng(101).normal(0.0, 3.0, (n, 5))
    values[:, 1] = np.rint(values[:, 1])
    values[::7, 0] = np.nan
    values[3, :] = [np.inf, -np.inf, np.nan, 1e308, -1e308]
    return values


def lattice() -> Lattice:
    return Lattice(low=np.full(5, -8.0), high=np.full(5, 8.0), step=16.0 / CELLS, cells=CELLS)


@pytest.fixture(params=["compiled", "numpy"])
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "numpy":
        monkeypatch.setattr(rank_histogram, "compiled", lambda loop: None)


@pytest.fixture(params=[1, 2, 5, 12])
def rounds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(ranked, "MEMORY", 32 * 5 * 2**request.param)
    return int(request.param)


@pytest.mark.usefixtures("loops")
@pytest.mark.parametrize("missing", [None, 1.25])
@pytest.mark.parametrize("share", [0.0, 0.4, 0.5, 1.0])
def test_a_search_gets_the_same_answers_in_fewer_passes(share: float, missing: float | None, rounds: int) -> None:
    stand_in = None if missing is None else np.full(5, missing)
    rows = open_rows(table())
    streamed = StreamedKeys(rows, lattice(), stand_in)
    held = HeldKeys.of_rows(open_rows(table()), lattice(), stand_in)
    answers = [
        BinarySearch()(each, share, open_door(reserved=Fraction(1), testing_seed=8), rho=Fraction(1), step="q")
        for each in (streamed, held)
    ]
    np.testing.assert_array_equal(*answers)
    assert (streamed.count, streamed.copies, streamed.rounds) == (60, 1, rounds)
    assert rows.passes == -(-40 // rounds)


@pytest.mark.usefixtures("loops", "rounds")
def test_any_thresholds_in_any_order_are_answered() -> None:
    rng = np.random.default_rng(102)
    streamed = StreamedKeys(open_rows(table()), lattice())
    held = HeldKeys.of_rows(open_rows(table()), lattice(), None)
    for _ in range(20):
        thresholds = np.floor(rng.uniform(0.0, 1.1, 5) * CELLS)
        np.testing.assert_array_equal(streamed.twice_below(thresholds), held.twice_below(thresholds))


@pytest.mark.parametrize("memory", [1, 60 * 8 * 2, 2**20])
def test_columns_come_one_after_the_other(memory: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranked, "MEMORY", memory)
    monkeypatch.setattr("plandp.data.blocks.VALUES_PER_BLOCK", 35)
    rows = open_rows(table())
    streamed, held = StreamedKeys(rows, lattice()), HeldKeys.of_rows(open_rows(table()), lattice(), None)
    for one, other in zip(streamed.column_keys(), held.column_keys(), strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.all(np.diff(one) >= 0)
    assert rows.passes == {1: 5, 60 * 8 * 2: 3, 2**20: 1}[memory]
    doors = [open_door(reserved=Fraction(1), testing_seed=9) for _ in range(2)]
    chosen = [
        ExponentialMechanism()(keys, 0.5, door, rho=Fraction(1), step="q")
        for keys, door in zip((streamed, held), doors, strict=True)
    ]
    np.testing.assert_array_equal(*chosen)


def added(block: Any) -> Any:
    """A view: the first two columns as one number."""
    with np.errstate(invalid="ignore"):
        return block[:, :1] + block[:, 1:2]


@pytest.mark.usefixtures("loops")
def test_numbers_made_of_rows_are_streamed_too() -> None:
    one = lattice().of_columns(slice(0, 1))
    streamed = StreamedKeys(open_rows(table()), one, view=added)
    held = HeldKeys.of_values(added(table()), one)
    for threshold in (0.0, 100.0, 512.0, 513.0, 1024.0):
        at = np.array([threshold])
        np.testing.assert_array_equal(streamed.twice_below(at), held.twice_below(at))


def test_the_memory_is_bounded_by_public_numbers() -> None:
    for d in (1, 5, 1024, 32768, 10**6):
        streamed = StreamedKeys(
            open_rows(np.zeros((2, 1))),
            Lattice(low=np.zeros(d), high=np.ones(d), step=np.full(d, 0.5), cells=np.full(d, 2.0)),
        )
        assert 32 * d * 2**streamed.rounds <= max(ranked.MEMORY, 64 * d)
