"""Planted mistakes in the rows of items: the privacy tests must reject each of them, and accept the real code.

A mistake is a changed line of the real source, so this page also fails when such a line is rewritten.
"""

from types import ModuleType
from typing import Any

import pytest
from neighbouring_items import item_company_shows, worst_group_sum, worst_item_sum
from planted import changed, in_numpy

from plandp.kernels import item_rows as value_loops
from plandp.kernels import item_sets as set_loops
from plandp.mechanisms import item_rows

SUM_SENSITIVITY = (
    "clipped = ClippedSum(lattice=lattice, squared_radius=squared_radius, counted=counts is not None)\n"
    "    sums = _with_whole(clipped, rows, counts, held)\n"
    "    noisy = noise.release(sums, squared_sensitivity=2 * squared_radius"
)
GROUP_SENSITIVITY = (
    "clipped = GroupedSum(lattice=lattice, group=group, squared_radius=squared_radius, counted=counts is not None)\n"
    "    sums = _with_whole(clipped, rows, counts)\n"
    "    noisy = noise.release(sums, squared_sensitivity=2 * squared_radius"
)
LARGEST = "return np.where(x < self.largest, x, float(self.largest))"
SHORTER = "np.floor(np.sqrt(norms.astype(np.float64)) + 2.0) * (1.0 - 2.0**-50)"
CLIP = "np.where(norms > squared_radius, factor, 1.0)"
ADDED = "(lattice.vectors(block) * shorter).astype(np.int64)"
GROUPED = "(by_group * _shorter(norms, self.squared_radius)[:, None]).astype(np.int64)"


def worst(module: Any) -> float:
    """The furthest that any of the attacks gets."""
    sums = [worst_item_sum(module, binary=True), worst_item_sum(module, binary=False)]
    return float(max(*sums, worst_item_sum(module, binary=False, squared=True)))


def worst_groups(module: Any) -> float:
    return float(max(worst_group_sum(module, binary=True), worst_group_sum(module, binary=False)))


def with_loops(*loops: ModuleType) -> Any:
    """The mechanism with these loops, uncompiled, in place of those it would compile."""
    mutant = changed(item_rows)

    def find(wanted: Any) -> Any:
        return next((vars(module)[wanted.__name__] for module in loops if wanted.__name__ in vars(module)), wanted)

    vars(mutant)["compiled"] = find
    return mutant


def test_control_the_real_code_passes_in_every_way() -> None:
    for module in (item_rows, in_numpy(item_rows), with_loops()):
        assert worst(module) == worst_groups(module) == 1
        assert item_company_shows(module) == []


@pytest.mark.parametrize(
    "factor",
    [
        pytest.param("squared_radius", id="R²: add or remove one row"),
        pytest.param("2 * squared_radius * 95 // 100", id="5% too small"),
        pytest.param("max(1, 2 * squared_radius - 1)", id="one point too small"),
    ],
)
def test_a_smaller_sensitivity_is_rejected(factor: str) -> None:
    smaller = [(line, line.replace("2 * squared_radius", factor)) for line in (SUM_SENSITIVITY, GROUP_SENSITIVITY)]
    assert worst(changed(item_rows, smaller[0])) > 1
    assert worst_groups(changed(item_rows, smaller[1])) > 1


@pytest.mark.parametrize(
    "replacement",
    [
        pytest.param((CLIP, "np.ones_like(factor)"), id="no clipping"),
        pytest.param((SHORTER, "np.floor(np.sqrt(norms.astype(np.float64)))"), id="the root rounded down"),
        pytest.param((ADDED, f"np.ceil({ADDED.removesuffix('.astype(np.int64)')}).astype(np.int64)"), id="rounded up"),
        pytest.param((LARGEST, "return x"), id="no largest entry"),
        pytest.param(
            ("np.where(norms > squared_radius", "np.where(norms > squared_radius * 1.0000001 + 100"), id="almost"
        ),
        pytest.param(("isqrt((1 << 59) // d)", "isqrt((1 << 64) // d)"), id="norms that wrap"),
        pytest.param(
            ("vectors(block).astype(np.uint64)", "vectors(block).astype(np.uint32)"),
            id="narrow",
        ),
    ],
)
def test_rows_that_are_too_long_are_rejected(replacement: tuple[str, str]) -> None:
    assert worst(in_numpy(item_rows, replacement)) > 1


@pytest.mark.parametrize(
    "replacement",
    [
        pytest.param((GROUPED, "by_group"), id="no clipping"),
        pytest.param(("by_group = np.minimum(by_group, lattice.largest)\n", "\n"), id="no largest sum"),
        pytest.param((GROUPED, f"np.ceil({GROUPED.removesuffix('.astype(np.int64)')}).astype(np.int64)"), id="up"),
        pytest.param(
            ("norms = (by_group * by_group).sum(axis=1)", "norms = by_group.max(axis=1) ** 2"), id="one group"
        ),
    ],
)
def test_rows_of_groups_that_are_too_long_are_rejected(replacement: tuple[str, str]) -> None:
    assert worst_groups(in_numpy(item_rows, replacement)) > 1


@pytest.mark.parametrize(
    "replacement",
    [
        pytest.param(("norms > self.squared_radius)", "norms > 2 * self.squared_radius)"), id="longer than long"),
        pytest.param(
            ("int(lattice.whole_weights[0]) ** 2", "int(lattice.whole_weights[0])"), id="norms of other weights"
        ),
        pytest.param(("not held.are_of(clipped.lattice)", "False"), id="held norms of another lattice"),
        pytest.param(("        at = place.stop\n", "\n"), id="every block has the first one's norms"),
    ],
)
def test_long_rows_that_are_not_found_are_rejected(replacement: tuple[str, str]) -> None:
    assert worst(changed(item_rows, replacement)) > 1


@pytest.mark.parametrize(
    "short",
    [
        pytest.param(("min(isqrt(self.squared_radius), lattice.largest)", "self.squared_radius"), id="radius squared"),
        pytest.param(("// max(1, int(weights.max()))", ""), id="points for items"),
        pytest.param(("np.diff(block.begin) > short", "np.diff(block.begin) > short + 1"), id="one item more"),
    ],
)
def test_long_groups_that_are_not_found_are_rejected(short: tuple[str, str]) -> None:
    assert worst_groups(changed(item_rows, short)) > 1


# --- the loops that are compiled, planted in their source and run as Python


def replaced(module: ModuleType, function: str, old: str, new: str) -> ModuleType:
    """The module with a piece of one of its functions replaced."""
    before, after = f"def {function}(", "\n\n\ndef "
    with open(str(module.__file__), encoding="utf-8") as file:
        text = file.read()
    body = text[text.index(before) :]
    body = body[: body.find(after)] if after in body else body
    assert old in body, f"no longer in {function}: {old}"
    return changed(module, (body, body.replace(old, new)))


CLIPPED = "clipped = norm > squared_radius"
FLOOR = "np.floor(np.sqrt(np.float64(norms[r])) + 2.0) * (1.0 - 2.0**-50)"
ROUNDED_DOWN = "np.floor(np.sqrt(np.float64(norms[r])))"


@pytest.mark.parametrize(
    ("module", "function", "old", "new"),
    [
        pytest.param(
            value_loops,
            "add_clipped",
            "clipped = norms[r] > squared_radius",
            "clipped = False",
            id="values: no clipping",
        ),
        pytest.param(value_loops, "add_clipped", FLOOR, ROUNDED_DOWN, id="values: root rounded down"),
        pytest.param(value_loops, "add_clipped", "x if x < largest else largest", "x", id="values: no largest entry"),
        pytest.param(
            value_loops,
            "add_clipped",
            "np.int64(np.float64(q) * shorter)",
            "np.int64(np.ceil(np.float64(q) * shorter))",
            id="values: rounded up",
        ),
        pytest.param(value_loops, "write_norms", "norm += q * q", "norm = q * q", id="values: the last entry's norm"),
        pytest.param(set_loops, "add_clipped_sets", FLOOR, ROUNDED_DOWN, id="sets: root rounded down"),
        pytest.param(set_loops, "add_clipped_sets", " - np.int32(weights[c])", "", id="sets: clipped and counted too"),
        pytest.param(set_loops, "add_clipped_alike", FLOOR, ROUNDED_DOWN, id="alike: root rounded down"),
        pytest.param(set_loops, "add_clipped_alike", " - np.int32(weights[0])", "", id="alike: counted too"),
        pytest.param(
            set_loops, "write_set_norms", "total += weight * weight", "total = weight * weight", id="sets: one item's"
        ),
        pytest.param(set_loops, "write_set_norms", "upto[t + 1] = total", "upto[t] = total", id="sets: off by one"),
    ],
)
def test_a_loop_that_lets_long_rows_through_is_rejected(module: Any, function: str, old: str, new: str) -> None:
    assert worst(with_loops(replaced(module, function, old, new))) > 1


@pytest.mark.parametrize(
    ("module", "function", "old", "new"),
    [
        pytest.param(value_loops, "add_grouped", CLIPPED, "clipped = False", id="values: no clipping"),
        pytest.param(value_loops, "add_grouped", "+ q, most)", "+ q, most * most)", id="values: no largest sum"),
        pytest.param(set_loops, "add_grouped_sets", CLIPPED, "clipped = False", id="sets: no clipping"),
        pytest.param(set_loops, "add_grouped_sets", "largest)", "largest * largest)", id="sets: no largest sum"),
        pytest.param(
            set_loops, "add_grouped_sets", "norm += row[g] * row[g]", "norm = row[g] * row[g]", id="sets: one group"
        ),
    ],
)
def test_a_loop_that_lets_long_groups_through_is_rejected(module: Any, function: str, old: str, new: str) -> None:
    assert worst_groups(with_loops(replaced(module, function, old, new))) > 1


@pytest.mark.parametrize(
    ("module", "function", "old", "new"),
    [
        pytest.param(
            value_loops,
            "write_norms",
            "    for r in range(len(norms)):\n        norm = np.int64(0)\n",
            "    norm = np.int64(0)\n    for r in range(len(norms)):\n",
            id="values: norms run on",
        ),
        pytest.param(value_loops, "add_grouped", "        row[:] = 0\n", "        pass\n", id="values: groups run on"),
        pytest.param(set_loops, "add_grouped_sets", "by_turns[:] = 0", "by_turns //= 2", id="sets: groups run on"),
        pytest.param(
            set_loops,
            "write_set_norms",
            "np.int64(after - before)",
            "np.int64(after)",
            id="sets: norms run on",
        ),
        pytest.param(
            set_loops,
            "add_clipped_sets",
            "begin[r] : begin[r + 1]",
            "begin[r] :",
            id="sets: a row takes the rest along",
        ),
    ],
)
def test_a_loop_in_which_rows_feel_their_company_is_rejected(module: Any, function: str, old: str, new: str) -> None:
    assert item_company_shows(with_loops(replaced(module, function, old, new)))
