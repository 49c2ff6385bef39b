"""Faults to plant in the installed library, by name: what an audit must find, and `audit_teeth` shows that it does.

A fault is a changed line of the library's own source, put into the running functions: `with planted("unpaid draw"):`.
Whoever rewrites such a line is told so.
"""

import inspect
import os
import textwrap
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import shake_256
from itertools import count
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plandp import handover
from plandp.data import blocks, chosen_rows, distinct_items, person_rows
from plandp.data import open as opening
from plandp.data.rows import Sums
from plandp.mechanisms import clipped_sum, item_rows, lattice_counts, norm_cells, quantiles, tail_cell
from plandp.noise import bits, discrete_gaussian, meter, sampler


@dataclass(frozen=True, kw_only=True)
class Change:
    """A piece of the source of a function, there exactly once, and what stands there when the fault is planted."""

    function: Callable[..., Any]
    old: str
    new: str


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A mistake that breaks the promise of privacy."""

    name: str
    changes: tuple[Change, ...]
    uncompiled: tuple[ModuleType, ...] = ()  # the fault is in the NumPy code of these, so that it must be used
    exact: bool = True  # an exact part of the audit should find it

    @contextmanager
    def planted(self) -> Iterator[None]:
        """Within this block the library has the fault."""
        with ExitStack() as stack:
            for module in self.uncompiled:
                stack.enter_context(_without_compiler(module))
            for function in dict.fromkeys(change.function for change in self.changes):
                pieces = [(change.old, change.new) for change in self.changes if change.function is function]
                stack.enter_context(_rewritten(function, pieces))
            yield


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Within this block the library has the fault of this name."""
    with FAULTS[name].planted():
        yield


@contextmanager
def _rewritten(function: Callable[..., Any], pieces: list[tuple[str, str]]) -> Iterator[None]:
    """Give the function other code, wherever it was imported already."""
    assert isinstance(function, FunctionType)
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in pieces:
        if source.count(old) != 1:
            raise ValueError(f"no longer in the source of {function.__qualname__} exactly once: {old}")
        source = source.replace(old, new)
    made: dict[str, Any] = {}
    exec(compile(source, f"<fault in {function.__qualname__}>", "exec"), function.__globals__, made)
    code = function.__code__
    function.__code__ = made[function.__name__].__code__
    try:
        yield
    finally:
        function.__code__ = code


@contextmanager
def _without_compiler(module: ModuleType) -> Iterator[None]:
    names = vars(module)
    compiled = names["compiled"]
    names["compiled"] = lambda loop: None
    try:
        yield
    finally:
        names["compiled"] = compiled


# --- what faults do that takes more than a line

_SEED, _TAKEN = os.urandom(16), count()


def inherited_bits(nbytes: int) -> bytes:
    """Bits of a generator that a fork copies, so that parent and child go on with the same ones."""
    return shake_256(_SEED + next(_TAKEN).to_bytes(8, "little")).digest(nbytes)


def odd_rows(rows: Any) -> bool:
    """Something about the values that nobody paid for: whether they hold an odd number of NaN, or of items."""

    def oddities(block: Any) -> Sums:
        number = np.isnan(block).sum() if isinstance(block, np.ndarray) else len(block.items)
        return (np.array([number], np.int64),)

    (total,) = rows.fold(oddities)
    return bool(total[0] % 2)


def twice_each(indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """As many indices, half of them, each twice."""
    return np.repeat(indices[::2], 2)[: len(indices)]


_HERE = "__import__('plandp_lab.planted_faults', fromlist=['planted'])"


# --- the faults

_SUM, _ITEMS, _GROUPS = clipped_sum.private_clipped_sum, item_rows.private_item_sum, item_rows.private_group_sum
_COUNTS, _TAIL = lattice_counts.private_counts_below, tail_cell.private_tail_cell
_RELEASE, _PAY = meter.MeteredNoise.release, meter.MeteredNoise._pay
_FACTOR = "squared_sensitivity = (2 if nonnegative else 4) * longest**2"
_ITEM_FACTOR = "squared_sensitivity=2 * squared_radius"
_ITEM_RADIUS = "squared_radius = max(1, int(radius * radius))"
_SHORTENED = "np.minimum(unclipped.astype(integers), longest // cells.bounds.astype(integers))"
_GATHER = "sums[present] += (gather @ vectors).astype(np.int64)"
_ADD_ITEMS = "np.add.at(sums, block.items, (lattice.vectors(block) * shorter).astype(np.int64))"


def _fault(name: str, *changes: tuple[Any, str, str], uncompiled: tuple[ModuleType, ...] = (), **more: Any) -> Fault:
    made = tuple(Change(function=function, old=old, new=new) for function, old, new in changes)
    return Fault(name=name, changes=made, uncompiled=uncompiled, **more)


_ALL = (
    # sensitivities
    _fault(
        "sensitivity halved: numbers",
        (_SUM, _FACTOR, "squared_sensitivity = (2 if nonnegative else 4) * longest**2 // 4"),
    ),
    _fault("sensitivity halved: items", (_ITEMS, _ITEM_FACTOR, "squared_sensitivity=max(1, squared_radius // 2)")),
    _fault("sensitivity halved: groups of items", (_GROUPS, _ITEM_FACTOR, "squared_sensitivity=squared_radius // 2")),
    _fault("sensitivity 2% too small", (_SUM, _FACTOR, f"{_FACTOR} * 96 // 100")),
    _fault("√2·C where 2C is needed: numbers", (_SUM, _FACTOR, "squared_sensitivity = 2 * longest**2")),
    _fault(
        "C where √2·C is needed: squares",
        (_SUM, _FACTOR, "squared_sensitivity = (1 if nonnegative else 4) * longest**2"),
    ),
    _fault("C where √2·C is needed: items", (_ITEMS, _ITEM_FACTOR, "squared_sensitivity=squared_radius")),
    _fault(
        "rank sensitivity ½: values", (_COUNTS, "squared_sensitivity=4 * len(query)", "squared_sensitivity=len(query)")
    ),
    _fault(
        "rank sensitivity ½: norms",
        (_TAIL, "noise.release(up_to_edge[cell : cell + 1],", "noise.release(2 * up_to_edge[cell : cell + 1],"),
        (_TAIL, "count=float(noisy[0])", "count=float(noisy[0]) / 2.0"),
    ),
    _fault(
        "rank sensitivity ½: choices",
        (quantiles.ExponentialMechanism.__call__, "sensitivity=2 * ranked.copies", "sensitivity=ranked.copies"),
    ),
    _fault(
        "rank sensitivity ½: halvings",
        (quantiles.BinarySearch.__call__, "4 * len(lattice.cells) * ranked", "len(lattice.cells) * ranked"),
    ),
    _fault(
        "choices too sure by 5%",
        (meter.MeteredNoise.choose, "largest_rate(rho=rho,", "largest_rate(rho=rho * Fraction(110, 100),"),
    ),
    _fault(
        "missing values count on both sides",
        (
            lattice_counts.LatticeKeys.doubled,
            "2 * np.minimum(below, len(self.keys) - self.missing) + self.missing",
            "2 * (np.minimum(below, len(self.keys) - self.missing) + 2 * self.missing)",
        ),
        (
            lattice_counts.TalliedKeys.twice_below,
            "2 * np.minimum(below, self.there) + self.missing",
            "2 * (np.minimum(below, self.there) + 2 * self.missing)",
        ),
    ),
    _fault(
        "sampled rows counted twice",
        (chosen_rows.ChosenRows.read, "self.indices[rows]", f"{_HERE}.twice_each(self.indices[rows])"),
        (blocks._chosen_from, "table.n)), table.indices", f"table.n)), {_HERE}.twice_each(table.indices)"),
    ),
    # clipping
    _fault("forgotten truncation: numbers", (clipped_sum.cell_weights, _SHORTENED, "unclipped.astype(integers)")),
    _fault(
        "forgotten truncation: items",
        (item_rows._shorter, "return np.where(norms > squared_radius, factor, 1.0)", "return np.ones(len(norms))"),
        uncompiled=(item_rows,),
    ),
    _fault(
        "forgotten truncation: groups of items",
        (item_rows.GroupedSum._add_up, "by_group * _shorter(norms, self.squared_radius)[:, None]", "by_group * 1.0"),
        uncompiled=(item_rows,),
    ),
    _fault(
        "data-dependent bound: numbers",
        (
            _SUM,
            "    finer = finer_bits(",
            "    radius_cell = min(radius_cell, int(np.flatnonzero(totals.counts)[-1]))\n    finer = finer_bits(",
        ),
    ),
    _fault(
        "data-dependent bound: items",
        (
            _ITEMS,
            _ITEM_RADIUS,
            "found = norm_counts(rows, lattice)\n"
            "    longest = float(found.edges[np.flatnonzero(found.counts)[-1]])\n"
            "    squared_radius = max(1, int(min(radius, longest) ** 2))",
        ),
    ),
    # sums
    _fault(
        "float sum instead of integer sum: numbers",
        (norm_cells.CellSums.lattice_vectors, "vectors = np.rint(y, out=y)", "vectors = y"),
        (norm_cells.CellSums._add_up, _GATHER, "sums[present] += np.rint(gather @ vectors).astype(np.int64)"),
        uncompiled=(norm_cells,),
    ),
    _fault(
        "float sum instead of integer sum: items",
        (item_rows.ItemLattice.vectors, "x = np.rint(", "x = 1.0 * ("),
        (
            item_rows.ClippedSum.__call__,
            _ADD_ITEMS,
            "sums += np.rint(np.bincount(block.items, lattice.vectors(block) * shorter, len(sums))).astype(np.int64)",
        ),
        uncompiled=(item_rows,),
    ),
    _fault(
        "an item counts once per event: events",
        (
            person_rows.group_events,
            "first = _starts(cell)",
            "first = np.arange(len(cell)) if values is None and not count else _starts(cell)",
        ),
    ),
    _fault(
        "who is kept depends on who else is there: events",
        (
            person_rows.keep_people,
            "numbers = list(first_people(((number, ids[number]) for number in present.tolist()), people))",
            "numbers = present[np.linspace(0, len(present) - 1, people).astype(int)].tolist()",
        ),
    ),
    # payments
    _fault(
        "budget divided by 3 instead of 9: values",
        (_COUNTS, "query = keys.twice_below(thresholds)", "query = 3 * keys.twice_below(thresholds)"),
        (_COUNTS, "squared_sensitivity=4 * len(query)", "squared_sensitivity=12 * len(query)"),
        (_COUNTS, "/ 2.0", "/ 6.0"),
    ),
    _fault(
        "budget divided by 3 instead of 9: items",
        (_ITEMS, "noise.release(sums, squared_sensitivity=2 *", "noise.release(3 * sums, squared_sensitivity=6 *"),
        (
            _ITEMS,
            "total=noisy.astype(np.float64) / lattice.weights",
            "total=noisy.astype(np.float64) / 3.0 / lattice.weights",
        ),
    ),
    _fault("a third of the price", (_RELEASE, "Payment(step=step, rho=rho,", "Payment(step=step, rho=rho / 3,")),
    _fault(
        "unpaid draw: not in the book",
        (
            _PAY,
            "    # Check and entry are one step, so that two threads cannot overspend together.\n",
            "    if 'radius' in payment.step:\n        return\n",
        ),
    ),
    _fault(
        "unpaid draw: past the door",
        (
            tail_cell.private_rows_above,
            "noise.release(norms.counts[cell + 1 :].sum(keepdims=True), squared_sensitivity=1, rho=rho, step=step)",
            "norms.counts[cell + 1 :].sum(keepdims=True) + noise._sampler.draw(1, 1 / (2 * rho))",
        ),
    ),
    # noise
    _fault(
        "noise drawn twice from the same bits after fork",
        (bits.OsBits.take, "os.urandom(nbytes)", f"{_HERE}.inherited_bits(nbytes)"),
        exact=False,
    ),
    _fault(
        "the same noise twice in one release",
        (
            sampler.ExactSampler.draw,
            "    if fits_int64(sigma2):\n        return draw_discrete_gaussian(count, sigma2, self._bits)\n",
            "    if fits_int64(sigma2):\n"
            "        drawn = self.__dict__.setdefault('_drawn', {})\n"
            "        if (count, sigma2) not in drawn:\n"
            "            drawn[count, sigma2] = draw_discrete_gaussian(count, sigma2, self._bits)\n"
            "        return drawn[count, sigma2].copy()\n",
        ),
        exact=False,
    ),
    _fault(
        "the same noise in every coordinate",
        (
            sampler.ExactSampler.draw,
            "return draw_discrete_gaussian(count, sigma2, self._bits)",
            "return np.repeat(draw_discrete_gaussian(1, sigma2, self._bits), count)",
        ),
        exact=False,
    ),
    _fault(
        "noise of 0.97 times the deviation",
        (
            discrete_gaussian.draw_discrete_gaussian,
            "staircase_for(sigma2)",
            "staircase_for(sigma2 * Fraction(94, 100))",
        ),
        exact=False,
    ),
    _fault(
        "lowest bit of noise lost",
        (discrete_gaussian.draw_discrete_gaussian, "return draws", "return draws & ~np.int64(1)"),
        exact=False,
    ),
    _fault("half of the variance", (_RELEASE, "2 * rho.numerator)", "4 * rho.numerator)")),
    _fault(
        "noise forgotten",
        (_RELEASE, "return _sum(integers, noise)", "return _sum(integers, 0 * noise if step == 'sum' else noise)"),
    ),
    # what else shows
    _fault(
        "NaN that raises: numbers",
        (
            norm_cells.CellSums._add,
            "    if chosen is not None and len(chosen) == 0:\n",
            "    if np.isnan(block).any():\n        raise ValueError('NaN')\n"
            "    if chosen is not None and len(chosen) == 0:\n",
        ),
    ),
    _fault(
        "NaN that raises: items",
        (
            distinct_items.distinct_items,
            "    if place is None and",
            "    if rows.values is not None and np.isnan(rows.values).any():\n        raise ValueError('NaN')\n"
            "    if place is None and",
        ),
    ),
    _fault(
        "NaN that raises: events",
        (
            person_rows.group_events,
            "    if values is not None:\n        counting &= ~np.isnan(values)\n",
            "    if values is not None:\n        if np.isnan(values).any():\n            raise ValueError('NaN')\n",
        ),
    ),
    _fault(
        "rows read before arguments are checked",
        (
            opening._open_table,
            "table = open_container(data, columns)\n",
            "table = open_container(data, columns)\n    table.read(slice(0, 1))\n",
        ),
    ),
    _fault(
        "the last bit of the estimate tells",
        (
            handover.handed_over,
            "estimate=estimate.mean,",
            f"estimate=np.nextafter(estimate.mean, np.inf) if {_HERE}.odd_rows(rows) else estimate.mean,",
        ),
    ),
    _fault(
        "a warning tells",
        (
            handover.handed_over,
            "warnings=(*warnings, *estimate.warnings)",
            f"warnings=(*warnings, *estimate.warnings, *(['odd'] if {_HERE}.odd_rows(rows) else []))",
        ),
    ),
)

FAULTS = {fault.name: fault for fault in _ALL}
