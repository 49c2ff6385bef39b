"""Cases that fuzzing found: each once raised something else than plandp's own refusal."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse

import plandp

TABLE = np.array([[1.0, 2.0], [3.0, 4.0]])
EVENTS = pandas.DataFrame({"user": ["u1", "u2"], "page": ["home", "help"], "amount": [1.0, 2.0]})
RIGHT: dict[str, Any] = {"bounds": (0, 5), "rho": 1, "method": "gaussian", "testing_seed": 1}

# Comparing these with a word gives no truth value.
NEITHER_TRUE_NOR_FALSE = [pandas.NA, np.array(["plan", "real"]), pandas.Series([0, 1]), pandas.DataFrame({"a": [1, 2]})]


@pytest.mark.parametrize("given", NEITHER_TRUE_NOR_FALSE, ids=lambda given: type(given).__name__)
@pytest.mark.parametrize("name", ["kind", "sampler", "method"])
def test_what_cannot_be_compared_is_no_choice(name: str, given: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=rf"^{name}: must be"):
        plandp.mean(TABLE, **(RIGHT | {name: given}))


@pytest.mark.parametrize("given", [10**400, Fraction(10**400, 3)], ids=["integer", "fraction"])
def test_an_error_norm_beyond_floats_is_refused(given: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^error_norm: must be a finite number"):
        plandp.mean(TABLE, **RIGHT, error_norm=given)


def test_a_span_of_time_is_no_number_of_rows_or_columns() -> None:
    """NumPy counts spans of time among its integers."""
    span = np.timedelta64(3, "s")
    for wrong in ({"n": span, "d": 2}, {"n": 10, "d": span}):
        with pytest.raises(plandp.ArgumentError, match="must be the number of"):
            plandp.check(**wrong, bounds=(0, 1), rho=1)  # type: ignore[arg-type]


def test_a_span_of_time_is_no_budget_and_no_label() -> None:
    span = np.timedelta64(3, "s")
    with pytest.raises(plandp.ArgumentError, match=r"^rho: must be a number"):
        plandp.mean(TABLE, **(RIGHT | {"rho": span}))
    with pytest.raises(plandp.ArgumentError, match=r"^bounds: labels must be strings or whole numbers"):
        plandp.mean(TABLE, **(RIGHT | {"bounds": {span: (0, 1)}}))


@pytest.mark.parametrize("name", ["missing", "error_scale", "spread", "smallest_spread", "error_norm", "testing_seed"])
@pytest.mark.parametrize(
    "given", [np.timedelta64(3, "s"), np.timedelta64("NaT"), np.array(5)], ids=["span", "NaT", "0-d"]
)
def test_neither_a_span_of_time_nor_an_array_without_dimensions_is_a_number(name: str, given: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=rf"^{name}: "):
        plandp.mean(TABLE, **(RIGHT | {name: given}))


@pytest.mark.parametrize("given", [np.array(5), np.ma.masked], ids=["array", "masked"])
def test_an_array_without_dimensions_is_no_list(given: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^columns: pass a list"):
        plandp.mean(TABLE, **RIGHT, columns=given)
    with pytest.raises(plandp.ArgumentError, match=r"^refine: must name some"):
        plandp.mean(TABLE, kind="binary", rho=1, refine=given)
    with pytest.raises(plandp.ArgumentError, match=r"^items: pass a list"):
        plandp.mean_of_events(EVENTS, person="user", item="page", items=given, people=3, rho=1)


HUGE = 10**5000
"""Python does not write such integers out, and so they cannot be shown in a message."""


@pytest.mark.parametrize("name", ["missing", "error_scale", "spread", "smallest_spread"])
@pytest.mark.parametrize("given", [HUGE, [HUGE, 1], {0: HUGE, 1: 1}, {HUGE: 1}], ids=["one", "list", "value", "label"])
def test_integers_of_thousands_of_digits_are_refused_like_others(name: str, given: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=rf"^{name}: "):
        plandp.mean(TABLE, **RIGHT, **{name: given})


@pytest.mark.parametrize(
    "wrong",
    [{"columns": [HUGE]}, {"bounds": {HUGE: (0, 1)}}, {"bounds": (0, HUGE)}],
    ids=["columns", "labels", "bounds"],
)
def test_labels_and_bounds_of_thousands_of_digits_are_refused(wrong: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^(columns|bounds): "):
        plandp.mean(TABLE, **(RIGHT | wrong))
    with pytest.raises(plandp.ArgumentError, match=r"^data: column labels"):
        plandp.mean(pandas.DataFrame(TABLE, columns=pandas.Index([0, HUGE], dtype=object)), **RIGHT)


def test_a_testing_seed_of_thousands_of_digits_is_a_seed() -> None:
    one, again = (plandp.mean(TABLE, **(RIGHT | {"testing_seed": HUGE})) for _ in range(2))
    assert one == again
    assert one != plandp.mean(TABLE, **(RIGHT | {"testing_seed": HUGE + 1}))


@pytest.mark.parametrize("name", ["person", "item", "measure"])
@pytest.mark.parametrize("given", [HUGE, np.array(["a", "b"]), pandas.NA], ids=["huge", "array", "NA"])
def test_columns_of_events_are_named_by_labels(name: str, given: Any) -> None:
    right: dict[str, Any] = {"person": "user", "item": "page", "measure": "amount"}
    with pytest.raises(plandp.ArgumentError, match=rf"^{name}: "):
        plandp.mean_of_events(EVENTS, **(right | {name: given}), items=["home"], people=3, bounds=(0, 5), rho=1)


def test_a_span_of_time_is_no_number_of_people() -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^people: must be the public number"):
        plandp.mean_of_events(
            EVENTS,
            person="user",
            item="page",
            items=["home"],
            people=np.timedelta64(3, "s"),
            rho=1,  # type: ignore[arg-type]
        )


@pytest.mark.parametrize("given", NEITHER_TRUE_NOR_FALSE, ids=lambda given: type(given).__name__)
def test_a_check_of_items_by_what_cannot_be_compared_is_refused(given: Any) -> None:
    with pytest.raises(plandp.ArgumentError, match=r"^method: must be 'plan'"):
        plandp.check(n=10, d=2, kind="binary", rho=1, method=given)


def test_a_check_of_counts_with_the_least_spread_there_is() -> None:
    found = plandp.check(n=100, d=2, kind="nonnegative", bounds=(0, 5), rho=1, spread=5e-324)
    assert not found.feasible
    assert 0 < found.error_in_spreads < np.inf


def _released() -> dict[str, Any]:
    return dict(json.loads(plandp.mean(TABLE, **RIGHT).to_json()))


@pytest.mark.parametrize("name", ["estimate", "noise_std", "center", "error_scale"])
def test_an_integer_beyond_floats_makes_no_release(name: str) -> None:
    values = _released() | {name: [10**400, 1]}
    with pytest.raises(plandp.ArgumentError, match=r"^text: is not a release"):
        plandp.MeanRelease.from_json(json.dumps(values))


def test_bounds_beyond_floats_make_no_receipt() -> None:
    values = _released()["receipt"] | {"bounds": [[0, 10**400], [0, 1]]}
    with pytest.raises(plandp.ArgumentError, match=r"^receipt: is not a receipt"):
        plandp.Receipt.from_dict(values)


@pytest.mark.parametrize("covers", [True, None, 5, ["x"], {"a": 1}])
def test_what_a_forecast_covers_is_text(covers: Any) -> None:
    """It was taken, and the page of the release could not be made."""
    values = _released()
    values["forecast"]["covers"] = covers
    with pytest.raises(plandp.ArgumentError, match=r"^text: is not a release"):
        plandp.MeanRelease.from_json(json.dumps(values))


@pytest.mark.parametrize("warnings", ["abc", [1], [None], {"a": "b"}, [["a"]]])
def test_warnings_of_a_release_are_texts(warnings: Any) -> None:
    values = _released() | {"warnings": warnings}
    with pytest.raises(plandp.ArgumentError, match=r"^text: is not a release"):
        plandp.MeanRelease.from_json(json.dumps(values))


@pytest.mark.parametrize("part", [[1, 2, 3], None], ids=["list", "None"])
@pytest.mark.parametrize("form", ["csr_array", "csc_array", "coo_array"])
def test_a_matrix_whose_values_are_no_array_is_refused(form: str, part: Any) -> None:
    matrix = getattr(scipy.sparse, form)(TABLE)
    matrix.data = part
    with pytest.raises(plandp.ArgumentError, match=r"^data: "):
        plandp.mean(matrix, kind="binary", rho=1)


@pytest.mark.parametrize("name", ["rows", "data"])
@pytest.mark.parametrize("part", [None, [1, 2, 3], np.zeros((2, 2), object)], ids=["None", "list", "two dimensions"])
def test_a_matrix_in_lists_whose_parts_do_not_fit_is_refused(name: str, part: Any) -> None:
    matrix = scipy.sparse.lil_array(TABLE)
    setattr(matrix, name, part)
    with pytest.raises(plandp.ArgumentError, match=r"^data: "):
        plandp.mean(matrix, kind="binary", rho=1)


DIAGONALS = """
import sys, numpy as np, scipy.sparse, plandp
matrix = scipy.sparse.dia_array(np.eye(4))
matrix.offsets = {offsets}
try:
    plandp.mean(matrix, kind="binary", rho=1)
    matrix.data = {data}
    plandp.mean(matrix, kind="nonnegative", bounds=(0, 5), rho=1)
except plandp.ArgumentError as error:
    sys.exit(str(error).startswith("data: the parts of the sparse matrix do not fit together"))
"""


@pytest.mark.parametrize(
    ("offsets", "data"),
    [
        ("np.arange(2_000_000, dtype=np.int32) % 7 - 3", "matrix.data"),
        ("np.array([2**62])", "np.ones((1, 10**6))"),
        ("np.array([-(2**63)])", "np.ones((1, 0))"),
        ("np.array([0, 0])", "np.ones((3, 4))"),
    ],
    ids=["more diagonals than values", "beyond any matrix", "before any matrix", "twice"],
)
def test_diagonals_that_are_nowhere_do_not_end_the_process(offsets: str, data: str) -> None:
    """SciPy reads and writes beyond its arrays then: in a process of its own, since it may die."""
    code = DIAGONALS.format(offsets=offsets, data=data)
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode in (0, 1)


def test_diagonals_are_read_as_scipy_reads_them() -> None:
    rng = np.random.default_rng(7)
    for n, d in ((4, 7), (7, 4), (5, 5), (1, 3)):
        offsets = rng.choice(np.arange(-n - 2, d + 3), size=5, replace=False)
        matrix = scipy.sparse.dia_array((rng.integers(-1, 4, (5, d + 1)).astype(float), offsets), shape=(n, d))
        for arguments in ({"kind": "binary"}, {"kind": "nonnegative", "bounds": (0, 5)}):
            one, other = (
                plandp.mean(data, rho=1, testing_seed=3, **arguments)  # type: ignore[arg-type]
                for data in (matrix, matrix.toarray())
            )
            assert one == other


@pytest.mark.parametrize("end", ["nan", "inf", "-inf"])
def test_bounds_of_a_receipt_are_finite(end: str) -> None:
    """They were taken, and the release could not be written again."""
    values = _released()
    values["receipt"]["bounds"] = [[0, end], [0, 1]]
    with pytest.raises(plandp.ArgumentError, match=r"^receipt: is not a receipt"):
        plandp.MeanRelease.from_json(json.dumps(values))


@pytest.mark.parametrize("digits", [299, 308, 309, 4000])
def test_a_receipt_with_an_integer_beyond_floats_can_be_shown(digits: int) -> None:
    receipt = plandp.mean(TABLE, **RIGHT).receipt
    payments = tuple(replace(payment, squared_sensitivity=10**digits) for payment in receipt.payments)
    shown = f"1e+{digits}" if digits < 300 else f"more than 1e{digits - 1}"
    assert shown in str(replace(receipt, payments=payments))
