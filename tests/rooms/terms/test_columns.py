"""The public column arguments: every form, every refusal, and arrays that nobody can change."""

from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plandp.errors import ArgumentError
from plandp.terms.columns import SMALLEST_SPREAD_SHARE, Columns, read_columns

LABELS = ("age", "pay", 7)
BOUNDS = {"age": (0, 120), "pay": (-5.0, 5.0), 7: (1, 2)}


def read(**arguments: Any) -> Columns:
    return read_columns(**{"labels": LABELS, "bounds": BOUNDS, **arguments})


def refusal(**arguments: Any) -> str:
    with pytest.raises(ArgumentError) as caught:
        read(**arguments)
    (argument,) = [name for name in arguments if name != "labels"]
    assert caught.value.argument == argument
    assert caught.value.__context__ is None
    return str(caught.value)


def test_the_defaults() -> None:
    columns = read_columns(labels=["a", "b"], bounds=(-1, 3))
    assert columns.labels == ("a", "b")
    assert columns.d == 2
    assert columns.low.tolist() == [-1, -1]
    assert columns.high.tolist() == [3, 3]
    assert columns.width.tolist() == [4, 4]
    assert columns.missing is None
    assert columns.spread is None
    assert columns.error_scale.tolist() == [1, 1]
    assert columns.smallest_spread.tolist() == [4 * 2.0**-20] * 2
    assert SMALLEST_SPREAD_SHARE == 2.0**-20


def test_all_forms_of_bounds_agree() -> None:
    pandas = pytest.importorskip("pandas")
    pairs = [(0, 120), (-5.0, 5.0), (1, 2)]
    shuffled = {7: (1, 2), "pay": [-5.0, 5.0], "age": np.array([0, 120])}
    forms = [
        BOUNDS,
        pairs,
        tuple(pairs),
        np.array(pairs),
        shuffled,
        MappingProxyType(shuffled),
        pandas.Series(pairs, index=list(LABELS)),
        pandas.Series(pairs[::-1], index=list(LABELS)[::-1]),
        [(Fraction(0), np.int8(120)), (np.float32(-5), 5), (1, 2)],
    ]
    for bounds in forms:
        columns = read(bounds=bounds)
        assert columns.low.tolist() == [0, -5, 1]
        assert columns.high.tolist() == [120, 5, 2]


def test_two_columns_are_not_ambiguous() -> None:
    both = read_columns(labels=(0, 1), bounds=(0, 5))
    assert (both.low.tolist(), both.high.tolist()) == ([0, 0], [5, 5])
    each = read_columns(labels=(0, 1), bounds=((0, 1), (0, 5)))
    assert (each.low.tolist(), each.high.tolist()) == ([0, 0], [1, 5])
    square = read_columns(labels=(0, 1), bounds=np.array([[0, 1], [0, 5]]))
    assert (square.low.tolist(), square.high.tolist()) == ([0, 0], [1, 5])
    assert read_columns(labels=(0, 1), bounds=np.array([0, 5])).high.tolist() == [5, 5]


def test_no_bounds_is_explained() -> None:
    message = refusal(bounds=None)
    for words in (
        "public",
        "never read from the data",
        "logarithm",
        "bounds=(0, 100)",
        "bounds={'age': (0, 120)",
    ):
        assert words in message


@pytest.mark.parametrize(
    ("pair", "problem"),
    [
        ((5, 5), "below the high end"),
        ((6, 5), "below the high end"),
        ((0, float("nan")), "not a finite number"),
        ((float("nan"), 1), "not a finite number"),
        ((0, float("inf")), "not a finite number"),
        ((-float("inf"), 0), "not a finite number"),
        ((0, 10**400), "not a finite number"),
        ((-1e308, 1e308), "too wide"),
        ((0, 5e-324), "too narrow"),
        ((0, 2.0**-601), "too narrow"),
        ((0, 2.0**601), "too wide"),
        ((False, True), "not a finite number"),
        ((0, np.True_), "not a finite number"),
        (("0", "1"), "not a finite number"),
        ((0, 1j), "not a finite number"),
        ((0, None), "not a finite number"),
        ((0, 1, 2), "needs a pair"),
        ((0,), "needs a pair"),
        ("01", "str is not accepted"),
        (3, "int is not accepted"),
        ({0, 1}, "set is not accepted"),
        ({0: 1, 1: 2}, "dict is not accepted"),
    ],
)
def test_bad_bounds_name_their_column(pair: object, problem: str) -> None:
    for bounds in ({**BOUNDS, "pay": pair}, [(0, 1), pair, (0, 1)]):
        message = refusal(bounds=bounds)
        assert problem in message
        assert "'pay'" in message


@pytest.mark.parametrize(
    ("bounds", "problem"),
    [
        ({"age": (0, 1), "pay": (0, 1)}, "column 7 is not named"),
        ({**BOUNDS, "wage": (0, 1)}, "no column 'wage'"),
        ({**BOUNDS, "7": (0, 1)}, "no column '7'"),
        ([(0, 1), (0, 1)], "2 pairs for 3 columns"),
        ([(0, 1)] * 4, "4 pairs for 3 columns"),
        ((0, 1, 2), "int is not accepted"),
        ((0, (0, 1)), "2 pairs for 3 columns"),
        ((5, 5), "column 'age'"),
        ((0, float("inf")), "not a finite number"),
        ((False, True), "2 pairs for 3 columns"),
        ("auto", "str is not accepted"),
        (5, "int is not accepted"),
        (np.array(5.0), "without dimensions"),
        ([], "0 pairs for 3 columns"),
    ],
)
def test_bad_forms_of_bounds(bounds: object, problem: str) -> None:
    assert problem in refusal(bounds=bounds)


def test_the_widest_and_narrowest_bounds_are_usable() -> None:
    wide = read_columns(labels=("x",), bounds=(-(2.0**599), 2.0**599), error_scale="bounds")
    assert wide.width[0] == 2.0**600
    narrow = read_columns(labels=("x",), bounds=(0, 2.0**-600), error_scale="bounds", smallest_spread=2.0**-645)
    assert narrow.smallest_spread[0] == 2.0**-645


def test_units_out_of_all_proportion_to_the_bounds_are_refused() -> None:
    for bounds, scale in (((0, 2.0**121), None), ((0, 2.0**-121), None), ((0, 1), 2.0**121), ((0, 1), 2.0**-121)):
        with pytest.raises(ArgumentError, match="error_scale='bounds'") as raised:
            read_columns(labels=("x",), bounds=bounds, error_scale=scale)
        assert raised.value.argument == "error_scale"
        read_columns(labels=("x",), bounds=bounds, error_scale="bounds")
    for exponent in (120, -120):
        assert read_columns(labels=("x",), bounds=(0, 2.0**exponent)).error_scale[0] == 1.0


def test_a_known_spread_is_no_finer_than_a_lattice_resolves() -> None:
    columns = read_columns(labels=("x", "y"), bounds=(0, 8), error_scale=2, spread=[1e-300, 1])
    assert columns.spread_in_units is not None
    assert columns.spread_in_units.tolist() == [2.0**-43, 0.5]


@pytest.mark.parametrize("argument", ["missing", "error_scale", "spread", "smallest_spread"])
def test_numbers_come_in_every_form(argument: str) -> None:
    pandas = pytest.importorskip("pandas")
    for value in (
        1,
        1.0,
        np.float32(1),
        Fraction(1),
        [1, 1, 1],
        (1, 1.0, np.int64(1)),
        np.ones(3, dtype=np.int8),
        {7: 1, "age": 1, "pay": 1},
        pandas.Series(1, index=[7, "pay", "age"]),
    ):
        assert getattr(read(**{argument: value}), argument).tolist() == [1, 1, 1]
    mixed = {7: 1, "pay": 0.5, "age": 0.25}
    assert getattr(read(**{argument: mixed}), argument).tolist() == [0.25, 0.5, 1]
    assert getattr(read(**{argument: [0.25, 0.5, 1]}), argument).tolist() == [0.25, 0.5, 1]


@pytest.mark.parametrize("argument", ["missing", "error_scale", "spread", "smallest_spread"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (True, "bool is not accepted"),
        (np.True_, "is not accepted"),
        ("1", "str is not accepted"),
        (b"1", "bytes is not accepted"),
        (1j, "complex is not accepted"),
        (float("nan"), "column 'age': nan is not a finite number"),
        (float("inf"), "not a finite number"),
        ([1, 1], "2 numbers for 3 columns"),
        ([1, 1, True], "column 7: True is not a finite number"),
        ([1, "1", 1], "column 'pay': '1' is not a finite number"),
        ([1, None, 1], "column 'pay'"),
        (np.array(1.0), "without dimensions"),
        (np.ones((3, 1)), "column 'age'"),
        ({"age": 1, "pay": 1}, "column 7 is not named"),
        ({"age": 1, "pay": 1, 7: 1, 8: 1}, "no column 8"),
        ({1, 2, 3}, "set is not accepted"),
        ({"age": 1, "pay": 1, 7: 10**400}, "column 7"),
    ],
)
def test_what_is_no_number_is_refused(argument: str, value: object, problem: str) -> None:
    assert problem in refusal(**{argument: value})


@pytest.mark.parametrize("argument", ["error_scale", "spread", "smallest_spread"])
@pytest.mark.parametrize("value", [0, -1, [1, 0, 1], {"age": 1, "pay": -1e-300, 7: 1}])
def test_scales_and_spreads_are_positive(argument: str, value: object) -> None:
    assert "is not above zero" in refusal(**{argument: value})


def test_an_index_that_names_a_column_twice_is_refused() -> None:
    pandas = pytest.importorskip("pandas")
    twice = pandas.Series([1, 1, 1, 1], index=["age", "pay", 7, "age"])
    assert "more than once" in refusal(spread=twice)


def test_error_scale_can_follow_the_bounds() -> None:
    assert read(error_scale="bounds").error_scale.tolist() == [120, 10, 1]
    assert "str is not accepted" in refusal(error_scale="Bounds")
    assert "str is not accepted" in refusal(spread="bounds")


@pytest.mark.parametrize("value", [-0.5, 6, {"age": 60, "pay": 5.5, 7: 1}])
def test_missing_lies_inside_the_bounds(value: object) -> None:
    assert "outside the bounds" in refusal(missing=value)


def test_missing_may_be_an_end_of_the_bounds() -> None:
    for value in ([0, -5, 1], [120, 5, 2]):
        missing = read(missing=value).missing
        assert missing is not None
        assert missing.tolist() == value


def test_smallest_spread_has_a_range() -> None:
    for share in (1.0, 2.0**-45):
        assert read_columns(labels=("x",), bounds=(0, 4), smallest_spread=4 * share).smallest_spread[0] == 4 * share
    for value in (4.0000001, 4 * 2.0**-45 * 0.999999):
        with pytest.raises(ArgumentError, match="smallest_spread: column 'x'"):
            read_columns(labels=("x",), bounds=(0, 4), smallest_spread=value)


def test_arrays_are_read_only_and_the_arguments_are_not_touched() -> None:
    bounds = np.array([[0.0, 120.0], [-5.0, 5.0], [1.0, 2.0]])
    spread = np.array([1.0, 2.0, 3.0])
    columns = read(bounds=bounds, missing=1, error_scale="bounds", spread=spread, smallest_spread=0.5)
    for array in (
        columns.low,
        columns.high,
        columns.missing,
        columns.error_scale,
        columns.spread,
        columns.smallest_spread,
        columns.width,
    ):
        assert array is not None
        assert (array.shape, array.dtype) == ((3,), np.float64)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9.0
    assert bounds.flags.writeable
    assert spread.flags.writeable
    spread[0] = 100.0
    assert columns.spread is not None
    assert columns.spread[0] == 1.0


finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=200, deadline=None)
@given(low=finite, high=finite)
def test_accepted_bounds_are_always_usable(low: float, high: float) -> None:
    try:
        columns = read_columns(labels=("x",), bounds=(low, high), error_scale="bounds")
    except ArgumentError:
        assert not 2.0**-600 <= high - low <= 2.0**600
        return
    assert 0 < columns.width[0] < float("inf")
    assert 0 < columns.smallest_spread[0] < columns.width[0]
    assert (columns.low[0], columns.high[0]) == (low, high)
