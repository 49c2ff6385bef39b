"""What is fuzzed: one function per kind of input, each of which draws a case, runs it and says how it ended."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

import plandp
from plandp_lab.fuzz.arguments import EVERY, budgets, is_brief, item_arguments, pairs, real_arguments, with_strange
from plandp_lab.fuzz.canary import CANARY, CANARY_TEXT
from plandp_lab.fuzz.commands import command_lines
from plandp_lab.fuzz.events import event_arguments, event_tables
from plandp_lab.fuzz.files import damaged_files, event_files, table_files
from plandp_lab.fuzz.ledgers import ledgers
from plandp_lab.fuzz.matrices import broken_matrices, matrices
from plandp_lab.fuzz.same_answers import alike
from plandp_lab.fuzz.tables import (
    Neighbours,
    arrays,
    arrow_tables,
    batches,
    lists,
    pandas_frames,
    polars_frames,
    strange_lists,
)
from plandp_lab.fuzz.texts import receipts, releases
from plandp_lab.fuzz.untouched import untouched
from plandp_lab.fuzz.values import Draw, one_in, strange
from plandp_lab.fuzz.watch import watched


@dataclass(frozen=True)
class Target:
    """One kind of input; `share` of all cases are of it."""

    name: str
    tried: str
    case: Callable[[Draw], str]
    share: float


def _table(containers: tuple[Callable[[Draw], Neighbours], ...], draw: Draw) -> str:
    found = draw(st.sampled_from(containers))(draw)
    arguments = {"testing_seed": 5} | (item_arguments if one_in(draw, 12) else real_arguments)(draw, found.labels)
    return compared(plandp.mean, found, arguments, is_brief(draw, arguments))


def _matrix(container: Callable[[Draw], Neighbours], draw: Draw) -> str:
    found = container(draw)
    arguments = {"testing_seed": 5} | (real_arguments if one_in(draw, 12) else item_arguments)(draw, found.labels)
    return compared(plandp.mean, found, arguments, is_brief(draw, arguments))


def _event_table(draw: Draw) -> str:
    found, arguments = event_tables(draw), event_arguments(draw)
    return compared(plandp.mean_of_events, found, arguments, is_brief(draw, arguments))


def _arguments(draw: Draw) -> str:
    """All arguments but the data, up to three of them strange."""
    if one_in(draw, 3):
        arguments = event_arguments(draw)
        names: tuple[str, ...] = tuple(arguments)
        call: Callable[..., object] = partial(plandp.mean_of_events, _few_events())
    else:
        arguments = {"testing_seed": 5} | (item_arguments if one_in(draw, 4) else real_arguments)(draw, (0, 1))
        names = EVERY
        call = partial(plandp.mean, np.array([[1.0, 2.0], [3.0, 4.0], [float(CANARY), 6.0]]))
    for name in sorted(draw(st.sets(st.sampled_from(names), min_size=1, max_size=3))):
        arguments[name] = draw(strange)
    with untouched(arguments):
        return alike(partial(call, **arguments), partial(call, **arguments), briefly=True).kind


def _few_events() -> Any:
    import pandas

    return pandas.DataFrame(
        {"user": ["u1", CANARY_TEXT, "u2"], "page": ["home", "help", CANARY_TEXT], "amount": [1.0, 2.0, 3.0]}
    )


def _anything(draw: Draw) -> str:
    data = draw(strange)
    if draw(st.booleans()):
        return watched(partial(plandp.mean, data, **real_arguments(draw, ("a",)))).kind
    return watched(partial(plandp.mean_of_events, data, **event_arguments(draw))).kind


def _check(draw: Draw) -> str:
    d = draw(st.integers(1, 5))
    arguments: dict[str, Any] = budgets(draw) | {
        "n": draw(st.sampled_from([1, 10, 1000, 10**6, 10**15])),
        "d": d,
        "bounds": pairs(draw, tuple(range(d))),
    }
    if one_in(draw, 3):
        arguments |= {"kind": draw(st.sampled_from(["binary", "nonnegative"])), "bounds": (0, 1)}
    names = (*EVERY, "n", "d")
    for _ in range(draw(st.integers(1, 3))):
        arguments = with_strange(
            draw, arguments, tuple(set(names) - {"columns", "missing", "refine", "sampler", "testing_seed"})
        )
    return watched(lambda: _checked(arguments)).kind


def _checked(arguments: dict[str, Any]) -> str:
    found = plandp.check(**arguments)
    repr(found)
    found.to_json()
    return "check"


OF_COMPARE = (
    *("n", "d", "bounds", "rho", "epsilon", "delta", "error_norm", "error_scale"),
    *("spread", "spread_shape", "smallest_spread", "methods", "runs"),
)


def _compare(draw: Draw) -> str:
    d = draw(st.integers(1, 5))
    arguments: dict[str, Any] = budgets(draw) | {
        "n": draw(st.sampled_from([1, 10, 1000, 10**6, 10**15])),
        "d": d,
        "bounds": pairs(draw, tuple(range(d))),
    }
    for _ in range(draw(st.integers(1, 3))):
        arguments = with_strange(draw, arguments, OF_COMPARE)
    return watched(lambda: _written(arguments)).kind


def _written(arguments: dict[str, Any]) -> str:
    found = plandp.compare(**arguments)
    repr(found)
    assert plandp.Comparison.from_json(found.to_json()) == found
    return "comparison"


def compared(function: Callable[..., object], found: Neighbours, arguments: dict[str, Any], briefly: bool) -> str:
    """Run both tables; they must look alike, and be as they were afterwards."""
    one, other = (partial(function, table, **arguments) for table in (found.one, found.other))
    with untouched(found.one, found.other, arguments):
        return alike(one, other, briefly=briefly).kind


TARGETS = (
    Target("arrays", "NumPy arrays of all dtypes and layouts", partial(_table, (arrays,)), 0.14),
    Target("batches", "arrays cut into batches", partial(_table, (batches,)), 0.02),
    Target("lists", "lists of rows, and lists that are none", partial(_table, (lists, lists, strange_lists)), 0.09),
    Target("pandas", "pandas frames and series", partial(_table, (pandas_frames,)), 0.07),
    Target("polars", "polars frames and series", partial(_table, (polars_frames,)), 0.05),
    Target("arrow", "Arrow tables and batches", partial(_table, (arrow_tables,)), 0.05),
    Target("matrices", "SciPy matrices of all formats", partial(_matrix, matrices), 0.04),
    Target("broken matrices", "SciPy matrices whose parts do not fit", partial(_matrix, broken_matrices), 0.04),
    Target("events", "events in pandas, polars and Arrow", _event_table, 0.04),
    Target("table files", "CSV, TSV, Parquet, Feather, Arrow, .npy and .npz, also by pattern", table_files, 0.07),
    Target("event files", "events in CSV, TSV, Parquet, Feather and Arrow", event_files, 0.03),
    Target("damaged files", "the same, damaged, made up or of random bytes", damaged_files, 0.10),
    Target("releases", "JSON of releases, changed", releases, 0.09),
    Target("receipts", "receipts, changed", receipts, 0.07),
    Target("commands", "the command line, and the files it reads", command_lines, 0.03),
    Target("ledgers", "ledger files, damaged or changed by hand", ledgers, 0.03),
    Target("arguments", "arguments of mean and mean_of_events", _arguments, 0.10),
    Target("anything", "objects that are no table at all", _anything, 0.05),
    Target("check", "arguments of plandp.check", _check, 0.01),
    Target("compare", "arguments of plandp.compare", _compare, 0.01),
)
