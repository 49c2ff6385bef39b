"""Whole releases from sparse rows: every draw is paid for, no query goes further, and no value shows otherwise."""

import dataclasses
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from neighbouring import RecordingDoor, furthest, moved
from planted import changed
from whole_runs import WatchedSampler, book_alarms, visible

import plandp
from plandp import sparse_algorithm
from plandp.data.open_sparse import open_sparse_rows
from plandp.noise.bits import SeededBits
from plandp.noise.meter import MeteredNoise
from plandp.planner.sparse_split import sparse_design
from plandp.steps import item_radius
from plandp.terms.columns import read_columns
from plandp.terms.sparse_design import SparseDesign

EVERYTHING = frozenset({"combine", "shrink", "clamp"})
REFINES = [frozenset(), frozenset({"combine"}), frozenset({"shrink"}), frozenset({"clamp"}), EVERYTHING]
KINDS = ("binary", "nonnegative")


def design_of(
    kind: str, n: int, d: int, *, p: float = 1.0, refine: frozenset[str] = EVERYTHING, rho: Fraction = Fraction(7, 3)
) -> SparseDesign:
    binary = kind == "binary"
    columns = read_columns(labels=range(d), bounds=(0, 1) if binary else (0, 20))
    return sparse_design(n=n, columns=columns, rho=rho, error_norm=p, binary=binary, refine=refine)


def baskets(n: int, d: int, seed: int = 80) -> np.ndarray:
    """Items from popular to rare, some rows empty, some with almost everything; values of very different sizes."""
    rng = np.random.default_rng(seed)
    there = rng.random((n, d)) < np.geomspace(0.4, 0.02, d) * np.exp(rng.normal(0, 1, (n, 1)))
    return np.where(there, np.exp(rng.normal(0, 2, (n, d))), 0.0)


# --- neighbours

REPLACEMENTS: dict[str, Callable[[int], np.ndarray]] = {
    "nothing": np.zeros,
    "everything": np.ones,
    "one item": lambda d: np.eye(1, d)[0],
    "a rare item": lambda d: np.eye(1, d, d - 1)[0],
    "rare items": lambda d: (np.arange(d) >= d // 2) * 1.0,
    "huge": lambda d: np.full(d, 1e308),
    "infinite": lambda d: np.where(np.arange(d) < 2, np.inf, 0.0),
    "tiny": lambda d: np.full(d, 5e-324),
    "NaN": lambda d: np.full(d, np.nan),
    "negative": lambda d: np.full(d, -3.0),
}


def furthest_of_runs(
    kind: str, n: int, d: int, run: Any = sparse_algorithm.sparse_plan_mean, **arguments: Any
) -> dict[str, Fraction]:
    """The largest ‖Δ‖² / stated squared sensitivity of each step, over one row's replacements."""
    design = design_of(kind, n, d, **arguments)

    def released(table: object, door: RecordingDoor) -> None:
        run(open_sparse_rows(scipy.sparse.csr_array(table), binary=kind == "binary"), design, door)

    table = baskets(n, d)
    found: dict[str, Fraction] = {}
    for name, others in (("nothing", list(REPLACEMENTS)), ("a rare item", ["one item", "everything", "huge"])):
        table[n // 2] = REPLACEMENTS[name](d)
        for replacement in others:
            other = table.copy()
            other[n // 2] = REPLACEMENTS[replacement](d)
            for step, ratio in furthest(moved(released, table, other)).items():
                found[step] = max(ratio, found.get(step, Fraction(0)))
    return found


@pytest.mark.parametrize(
    ("kind", "n", "d", "p"),
    [
        ("binary", 40, 12, 1.0),
        ("nonnegative", 40, 12, 1.0),
        ("binary", 6, 60, 2.0),
        ("nonnegative", 6, 60, 2.0),
        ("binary", 1, 1, 1.0),
        ("nonnegative", 1, 1, 3.5),
    ],
)
def test_no_query_of_a_sparse_release_goes_further(kind: str, n: int, d: int, p: float) -> None:
    found = furthest_of_runs(kind, n, d, p=p)
    squares = ["squares radius", "squares"] if kind == "nonnegative" else []
    assert sorted(found) == sorted(["first radius", "first sum", *squares, "groups", "radius", "sum"])
    assert max(found.values()) <= 1, found
    if n > 1:
        assert found["radius"] == 1  # a count that the row is in or not
        assert found["sum"] > Fraction(2, 5)  # or nothing was attacked: nothing to everything is half, √2 takes two


ANSWERS: dict[str, Callable[[int, int], np.ndarray]] = {
    "nothing": lambda size, _: np.zeros(size, np.int64),
    "the most": lambda size, _: np.full(size, 2**62),
    "the least": lambda size, _: np.full(size, -(2**62)),
    "by turns": lambda size, number: np.full(size, 2**62 if number % 2 else -(2**62)),
    "from the least to the most": lambda size, _: np.linspace(-(2.0**62), 2.0**61, size).astype(np.int64),
    "one of all": lambda size, _: (np.arange(size) == 0) * 2**62,
}


class ExtremeDoor(RecordingDoor):
    """Answers what noise could make of any query, however unlikely."""

    def __init__(self, answer: Callable[[int, int], np.ndarray]) -> None:
        super().__init__()
        self._answer = answer

    def release(self, query: Any, **terms: Any) -> Any:
        super().release(query, **terms)
        return self._answer(len(query), len(self.queries))


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_query_goes_further_whatever_is_answered(kind: str, answer: str) -> None:
    # The proof holds for all answers, so also for those that lead to weights and radii at their very ends.
    for n, d, p, refine in ((30, 25, 1.0, EVERYTHING), (3, 2, 2.0, frozenset()), (30, 25, 60.0, EVERYTHING)):
        design = design_of(kind, n, d, p=p, refine=refine)
        queries = []
        for row in (np.zeros(d), np.full(d, 1e308), np.eye(1, d)[0]):
            table = baskets(n, d)
            table[1] = row
            door = ExtremeDoor(ANSWERS[answer])
            with np.errstate(all="ignore"):  # as in mean
                rows = open_sparse_rows(scipy.sparse.csr_array(table), binary=kind == "binary")
                estimate = sparse_algorithm.sparse_plan_mean(rows, design, door)  # type: ignore[arg-type]
            assert np.isfinite(estimate.mean).all()
            queries.append(door.queries)
        for other in queries[1:]:
            for a, b in zip(queries[0], other, strict=True):
                assert (a.step, a.rho, a.squared_sensitivity) == (b.step, b.rho, b.squared_sensitivity)
                squares = sum((x - y) ** 2 for x, y in zip(a.values, b.values, strict=True))
                assert squares <= a.squared_sensitivity


Entries = list[tuple[int, float]]  # (column, value), as stored

STORED: dict[str, Entries] = {
    "nothing": [],
    "one item, stored without end": [(3, 1.0)] * 3000,
    "all items, stored without end": [(item, 1.0) for item in range(12)] * 300,
    "columns that do not exist": [(-1, 1.0), (12, 5.0), (2**31 - 1, 1e308), (-(2**31), 1.0), (4, 2.0)],
    "values that cancel": [(0, 1e308), (0, 1e308), (1, np.inf), (1, -np.inf), (2, 1.0), (2, -1.0), (3, -5.0)],
    "no numbers": [(0, np.nan), (1, np.nan), (1, 7.0), (2, 0.0), (5, -0.0)],
    "everything twice, backwards": [(item, 1e300) for item in range(12)][::-1] * 2,
}


def stored_matrix(row: Entries, shape: str) -> Any:
    """An ordinary matrix whose row 5 holds these entries, unchecked and in this order."""
    others = baskets(20, 12)
    others[5] = 0.0
    held = scipy.sparse.coo_array(others)
    rows = np.concatenate([held.coords[0], np.full(len(row), 5)]).astype(np.int32)
    columns = np.concatenate([held.coords[1], [column for column, _ in row]]).astype(np.int32)
    values = np.concatenate([held.data, [value for _, value in row]])
    matrix = scipy.sparse.coo_array((20, 12)) if shape == "coo" else scipy.sparse.csr_array((20, 12))
    if shape == "coo":
        matrix.coords, matrix.data = (rows, columns), values
        return matrix
    order = np.argsort(rows, kind="stable")
    matrix.indices, matrix.data = columns[order], values[order]
    matrix.indptr = np.searchsorted(rows[order], np.arange(21)).astype(np.int32)
    return matrix


def furthest_of_stored(kind: str, shape: str) -> Fraction:
    """The largest ratio over matrices that differ in what is stored for one row."""
    design = design_of(kind, 20, 12)

    def released(matrix: object, door: RecordingDoor) -> None:
        rows = open_sparse_rows(matrix, binary=kind == "binary")
        sparse_algorithm.sparse_plan_mean(rows, design, door)  # type: ignore[arg-type]

    matrices = {name: stored_matrix(row, shape) for name, row in STORED.items()}
    return max(
        ratio
        for one in ("nothing", "everything twice, backwards")
        for other in STORED
        for _, ratio in moved(released, matrices[one], matrices[other])
    )


@pytest.mark.parametrize("shape", ["coo", "csr"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_query_goes_further_however_a_row_is_stored(kind: str, shape: str) -> None:
    assert Fraction(2, 5) < furthest_of_stored(kind, shape) <= 1


@pytest.mark.parametrize("kind", KINDS)
def test_items_that_are_counted_as_often_as_they_are_stored_are_rejected(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STORED, "columns that do not exist", [])  # a loop would follow them out of its arrays
    monkeypatch.setattr(
        "plandp.data.open_sparse.distinct_items",
        lambda rows, *, binary, **_: dataclasses.replace(rows, values=None if binary else np.abs(rows.values)),
    )
    assert furthest_of_stored(kind, "csr") > 1


def goes_too_far(module: Any) -> bool:
    """Whether a query moves further than it states, or anything but its values differs."""
    try:
        return max(furthest_of_runs("binary", 30, 12, run=module.sparse_plan_mean).values()) > 1
    except (AssertionError, ValueError):  # other costs or sensitivities; another number of groups
        return True


LATTICE = "y = _lattice(V / s, design)  # line 5: x / s"


@pytest.mark.parametrize(
    ("line", "replacement"),
    [
        pytest.param(
            LATTICE,
            "y = _lattice(V / s, design); w = norm_counts(rows, y).counts; "
            "y = _lattice(V / s * (1.0 + w @ np.arange(len(w))), design)",
            id="weights from rows",
        ),
        pytest.param(
            "total = private_item_sum(rows, y, radius.value, noise",
            "total = private_item_sum(rows, y, float(norms.edges[np.flatnonzero(norms.counts)[-1]]), noise",
            id="the longest row as radius",
        ),
        pytest.param(
            "group = groups_by_popularity(m / u)",
            "group = groups_by_popularity(m / u); "
            "group = group % (1 + int(norm_counts(rows, _lattice(1e9 / s, design)).counts[-9:].sum() > 0))",
            id="groups from rows",
        ),
    ],
)
def test_a_release_that_looks_at_rows_unpaid_is_rejected(line: str, replacement: str) -> None:
    assert not goes_too_far(sparse_algorithm)
    assert goes_too_far(changed(sparse_algorithm, (line, replacement)))


# --- payments


def account_alarms(
    kind: str, table: np.ndarray, *, run: Any = sparse_algorithm.sparse_plan_mean, **arguments: Any
) -> list[str]:
    """What is wrong with the book of a run: draws that no payment covers, or a total that is not ρ exactly."""
    rho = Fraction(7, 3)
    sampler = WatchedSampler()
    door = MeteredNoise(reserved=rho, sampler=sampler, coins=SeededBits(81))
    rows = open_sparse_rows(scipy.sparse.csr_array(table), binary=kind == "binary")
    design = design_of(kind, *table.shape, rho=rho, **arguments)
    with np.errstate(all="ignore"):  # as in mean
        alarms = book_alarms(lambda: run(rows, design, door), door, sampler, rho)
    if rows.passes != (6 if kind == "binary" else 9):
        alarms.append("passes")
    return alarms


@pytest.mark.parametrize("refine", REFINES, ids=lambda names: "+".join(sorted(names)) or "none")
@pytest.mark.parametrize("p", [1.0, 2.0, 7.5])
@pytest.mark.parametrize("kind", KINDS)
def test_every_draw_of_a_sparse_release_is_paid_for(kind: str, p: float, refine: frozenset[str]) -> None:
    assert account_alarms(kind, baskets(50, 30), p=p, refine=refine) == []


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 400)])
@pytest.mark.parametrize("value", [0.0, 1.0, 1e308])
@pytest.mark.parametrize("kind", KINDS)
def test_every_draw_is_paid_for_whatever_the_shape(kind: str, value: float, shape: tuple[int, int]) -> None:
    assert account_alarms(kind, np.full(shape, value)) == []


@pytest.mark.parametrize(
    "replacement",
    [
        pytest.param(("(Fraction(3, 10), 4)", "(Fraction(4, 10), 4)"), id="rounds above 1"),
        pytest.param(("(Fraction(2, 10), 8)", "(Fraction(1, 10), 8)"), id="rounds below 1"),
        pytest.param(("rho * share * (1 - BEYOND_SHARE)", "rho * share"), id="the tail paid for twice"),
        pytest.param(("(Fraction(1, counts),) * counts", "(Fraction(1, 4),) * counts"), id="counts above 1"),
        pytest.param(("rho=for_tail", "rho=for_search"), id="another's budget"),
    ],
)
def test_shares_of_the_radius_that_do_not_add_up_are_rejected(
    replacement: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse_algorithm, "private_item_radius", changed(item_radius, replacement).private_item_radius)
    assert account_alarms("binary", baskets(30, 10))


# --- values that must not show


def awkward_matrices(d: int = 25, n: int = 40) -> dict[str, Any]:
    """An ordinary matrix, and others of the same shape that could trip code up."""
    ordinary = baskets(n, d)
    one_bad = {}
    for name, value in (("nan", np.nan), ("inf", np.inf), ("-inf", -np.inf), ("1e308", 1e308), ("5e-324", 5e-324)):
        one_bad[f"one row of {name}"] = ordinary.copy()
        one_bad[f"one row of {name}"][17] = value
    tables: dict[str, Any] = {
        "ordinary": ordinary,
        **one_bad,
        "nothing": np.zeros((n, d)),
        "all ones": np.ones((n, d)),
        "all tiny": np.full((n, d), 5e-324),
        "all huge": np.full((n, d), 1e308),
        "all infinite": np.full((n, d), np.inf),
        "all NaN": np.full((n, d), np.nan),
        "all negative": np.full((n, d), -1.0),
        "one row owns everything": np.where(np.arange(n)[:, None] == 3, 1e308, 0.0) * np.ones(d),
        "one item owns everything": np.where(np.arange(d) == 3, 7.0, 0.0) * np.ones((n, 1)),
    }
    held = {name: scipy.sparse.csr_array(table) for name, table in tables.items()}
    # what no table can hold: cells stored thousands of times, infinities that cancel, columns that do not exist
    repeated = scipy.sparse.coo_array(
        (np.tile([np.inf, -np.inf, 1.0, np.nan], 1000), (np.full(4000, 5), np.arange(4000) % 7)), shape=(n, d)
    )
    outside = scipy.sparse.csr_array(ordinary)
    outside.indices = outside.indices.copy()
    outside.indices[::3] += d
    outside.indices[1::3] -= 2 * d
    return {**held, "repeated cells": repeated, "columns outside": outside, "dense": ordinary}


@pytest.mark.parametrize("kind", KINDS)
def test_no_sparse_value_raises_warns_or_changes_a_shape(kind: str) -> None:
    alarms, expected = [], None
    for name, matrix in awkward_matrices().items():
        try:
            with warnings.catch_warnings(), np.errstate(all="raise"):
                warnings.simplefilter("error")
                release = plandp.mean(
                    matrix, kind=kind, bounds=(0, 1) if kind == "binary" else (0, 20), rho=5, testing_seed=82
                )
                text = release.to_json()
                repr(release)
                release.interval(0.9)
        except (Exception, Warning) as problem:
            alarms.append(f"{name}: {type(problem).__name__}")
            continue
        shown = _visible(release)
        expected = expected or shown
        if shown != expected:
            alarms.append(f"{name}: it shows")
        numbers = (release.estimate, release.noise_std, release.unrefined, release.error_std, release.forecast.error)
        if not all(np.isfinite(number).all() for number in numbers if number is not None):
            alarms.append(f"{name}: no number")
        if plandp.MeanRelease.from_json(text) != release:
            alarms.append(f"{name}: JSON")
    assert alarms == []


def _visible(release: plandp.MeanRelease) -> tuple[object, ...]:
    """As in dense runs; but how many groups there are is a released number."""
    parts = visible(release)
    payments = tuple((payment.step, payment.rho) for payment in release.receipt.payments)
    counts = {payment.values for payment in release.receipt.payments if payment.step != "groups"}
    return (*parts[:4], payments, counts, *parts[5:], release.receipt.passes)


WIDE = 2.0**239
EXTREME: list[dict[str, Any]] = [
    {"rho": "1e-12"},
    {"rho": 10**6},
    {"bounds": (0, 2.0**120)},
    {"bounds": (0, 2.0**-120)},
    {"bounds": (0, WIDE), "error_scale": "bounds"},
    {"bounds": (0, 1 / WIDE), "error_scale": "bounds", "rho": "1e-12"},
    {"bounds": [(0, 2.0**-120), (0, 2.0**120)] * 15},
    {"bounds": (0, 1), "error_scale": [2.0**-119, 2.0**119] * 15},
    {"error_norm": 50, "rho": "1e-12"},
    {"error_norm": 400},
    {"error_norm": 400, "bounds": (0, 1000), "error_scale": "bounds"},
    {"error_norm": 1e6},
    {"error_norm": 1.7e308},
    {"error_norm": 1.7e308, "refine": ()},
    {"error_norm": 1.5},
]


@pytest.mark.parametrize("arguments", EXTREME, ids=lambda arguments: str(arguments)[:60])
def test_extreme_public_arguments_of_sparse_releases(arguments: dict[str, Any]) -> None:
    kinds = KINDS if arguments.get("bounds", (0, 1)) == (0, 1) else ("nonnegative",)
    for kind in kinds:
        for table in (baskets(40, 30), np.zeros((40, 30)), np.full((40, 30), 1e308)):
            with warnings.catch_warnings(), np.errstate(all="raise"):
                warnings.simplefilter("error")
                release = plandp.mean(
                    scipy.sparse.csr_array(table),
                    kind=kind,
                    testing_seed=83,
                    **{"bounds": (0, 1), "rho": 1, **arguments},
                )
            for numbers in (release.estimate, release.noise_std, release.unrefined, release.error_std):
                assert np.isfinite(numbers).all()
            assert (release.noise_std > 0).all()
            assert np.isfinite(release.forecast.error)
            assert release.receipt.rho == sum(payment.rho for payment in release.receipt.payments)


@pytest.mark.parametrize("high", [1e300, 1e-300, 2.0**241, 2.0**-241])
def test_bounds_that_cannot_be_reckoned_with_are_refused(high: float) -> None:
    with pytest.raises(plandp.ArgumentError) as raised:
        plandp.mean(
            scipy.sparse.csr_array(np.eye(3)), kind="nonnegative", bounds=(0, high), error_scale="bounds", rho=1
        )
    assert raised.value.argument == "bounds"


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_releases_are_the_same_bits_however_rows_are_held(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = baskets(60, 20)
    csr = scipy.sparse.csr_array(table)

    def released(data: object) -> tuple[object, ...]:
        bounds = (0, 1) if kind == "binary" else (0, 20)
        release = plandp.mean(data, kind=kind, bounds=bounds, rho=5, testing_seed=84)
        return release.estimate.tobytes(), release.noise_std.tobytes(), release.receipt.payments

    whole = released(csr)
    order = np.random.default_rng(85).permutation(len(table))
    unclean = scipy.sparse.csr_array(  # zeros and columns that do not exist, at the end of the last row
        (
            np.append(csr.data, [0.0, np.nan]),
            np.append(csr.indices, [0, 1]),
            np.append(csr.indptr[:-1], csr.indptr[-1] + 2),
        ),
        shape=csr.shape,
    )
    held = [table, csr[order], csr.tocsc(), csr.tocoo(), np.asfortranarray(table[::-1]), unclean]
    assert all(released(data) == whole for data in held)
    monkeypatch.setattr("plandp.data.open_sparse.ENTRIES_PER_BLOCK", 7)
    monkeypatch.setattr("plandp.data.open_sparse.TIMES_OF_SETS", 1)
    monkeypatch.setattr("plandp.data.open_sparse.ENTRIES_PER_COLUMN", 0)
    assert released(csr) == whole
