"""What a person has of an item: exact sums and counts, whatever others have."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from event_tables import event_rows, frame_of

from plandp.data.person_rows import exact_sums

pytestmark = pytest.mark.usefixtures("own_folder")


def test_sums_are_exact_whatever_the_order() -> None:
    rng = np.random.default_rng(5)
    wild = np.concatenate(
        [rng.normal(size=300) * 10.0 ** rng.integers(-300, 30, 300), [1e300, -1e300, np.inf, -np.inf]]
    )
    limit = 2.0**100
    whole = rng.integers(-50, 50, 300) * 2.0 ** rng.integers(0, 90, 300)
    for values in (
        wild,
        whole,
        rng.integers(-50, 50, 300).astype(float),
        rng.normal(size=300),
        np.full(300, 2.0**52 + 1),
    ):
        clipped = np.clip(values, -limit, limit)
        expected = float(sum(map(Fraction, clipped.tolist())))
        for _ in range(5):
            first = np.array([0, len(values)])
            assert exact_sums(np.append(rng.permutation(values), 3.0), first).tolist() == [expected, 3.0]


def test_a_sum_does_not_depend_on_other_people() -> None:
    """A cumulative sum over all values would lose the small ones behind a large one."""
    small = [("x", "a", 0.1), ("x", "a", 0.2), ("x", "a", 2.0**-60)]
    exact = float(Fraction(0.1) + Fraction(0.2) + Fraction(2.0**-60))
    for others in ([], [("w", "a", 1e300)], [("w", "a", float("inf")), ("y", "a", float("nan"))], [("y", "a", -1e300)]):
        found = event_rows(frame_of([*others, *small]), items=["a"], people=5, measure="time")
        assert found[frozenset({(0, exact)})] == 1


def test_counts_of_many_events_are_exact() -> None:
    frame = pandas.DataFrame({"user": np.zeros(3_000_001, dtype=np.int8), "page": "a"})
    assert event_rows(frame, items=["a"], people=1, measure="count") == Counter({frozenset({(0, 3_000_001.0)}): 1})


def test_sums_that_are_not_above_zero_are_left_out() -> None:
    nan, inf = float("nan"), float("inf")
    cases = {
        "minus": [-1.0, 0.5],
        "zero": [1.0, -1.0],
        "nan": [nan],
        "inf": [inf, -inf],
        "less": [-inf, 1e300],
        "none": [],
    }
    events = [(user, "a", value) for user, values in cases.items() for value in values]
    assert event_rows(frame_of(events), items=["a"], people=6, measure="time") == Counter({frozenset(): 6})
    kept = [("nan", "a", nan), ("nan", "a", 2.0), ("inf", "a", inf), ("inf", "a", -1.0), ("least", "a", 5e-324)]
    expected = {frozenset({(0, value)}): 1 for value in (2.0, 2.0**100, 5e-324)}
    assert event_rows(frame_of(kept), items=["a"], people=3, measure="time") == Counter(expected)


@pytest.mark.parametrize("kind", ["int8", "uint64", "bool", "float32", "Int32", "boolean", "Float64"])
def test_values_of_every_numeric_type_are_read(kind: str) -> None:
    frame = pandas.DataFrame({"user": ["x", "x"], "page": ["a", "a"], "time": pandas.Series([1, 1], dtype=kind)})
    for table in (frame, polars.from_pandas(frame), pyarrow.Table.from_pandas(frame)):
        assert event_rows(table, items=["a"], people=1, measure="time") == Counter({frozenset({(0, 2.0)}): 1})
