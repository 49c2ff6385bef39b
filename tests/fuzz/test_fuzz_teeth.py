"""The fuzzer has teeth: each promise, broken on purpose, is found by name."""

import logging
import pickle
import signal
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import plandp
from plandp_lab.fuzz import watch
from plandp_lab.fuzz.batch import in_this_process
from plandp_lab.fuzz.canary import CANARY
from plandp_lab.fuzz.same_answers import alike
from plandp_lab.fuzz.tables import Neighbours
from plandp_lab.fuzz.targets import Target, compared
from plandp_lab.fuzz.values import SPECIAL_FLOATS, Draw
from plandp_lab.fuzz.watch import Broken, watched

REAL_MEAN = plandp.mean
SMALL = dict(bounds=(0, 100), rho=1, method="gaussian", testing_seed=5)


def _small_tables(draw: Draw) -> str:
    """As the fuzzer does with arrays, but without arguments that are refused."""
    one, other = (np.array(draw(st.lists(st.sampled_from(SPECIAL_FLOATS), min_size=4, max_size=4))) for _ in range(2))
    other[1:] = one[1:]
    return compared(plandp.mean, Neighbours(one[:, None], other[:, None], (0,)), dict(SMALL), briefly=False)


ARRAYS = Target("small tables", "", _small_tables, 1.0)


def crash(data: Any, **arguments: Any) -> Any:
    if np.any(data == 0.5):
        raise ValueError
    return REAL_MEAN(data, **arguments)


def refuse_by_value(data: Any, **arguments: Any) -> Any:
    release = REAL_MEAN(data, **arguments)
    if not np.all(np.isfinite(np.asarray(data, float))):
        raise plandp.ArgumentError("data", "holds no finite numbers")
    return release


def warn_by_value(data: Any, **arguments: Any) -> Any:
    release = REAL_MEAN(data, **arguments)
    if np.any(np.asarray(data, float) > 1e9):
        warnings.warn("large values", stacklevel=1)
    return release


def log_by_value(data: Any, **arguments: Any) -> Any:
    release = REAL_MEAN(data, **arguments)
    if np.any(np.asarray(data, float) > 1e9):
        logging.getLogger("plandp").warning("large values")
    return release


def print_by_value(data: Any, **arguments: Any) -> Any:
    release = REAL_MEAN(data, **arguments)
    if np.any(np.asarray(data, float) > 1e9):
        sys.stderr.write("large values")
    return release


def add_without_noise(data: Any, **arguments: Any) -> Any:
    from dataclasses import replace

    release = REAL_MEAN(data, **arguments)
    with np.errstate(all="ignore"):
        return replace(release, radius=release.radius + 1e-9 * float(np.sum(np.asarray(data, float) > 50)))


def write_to_the_table(data: Any, **arguments: Any) -> Any:
    release = REAL_MEAN(data, **arguments)
    if isinstance(data, np.ndarray) and data.flags.writeable and data.size:
        data[...] = np.zeros((), data.dtype)
    return release


def show_a_cell(data: Any, **arguments: Any) -> Any:
    release = REAL_MEAN(data, **arguments)
    if np.any(np.asarray(data, float) == CANARY):
        raise plandp.ArgumentError("data", f"{float(np.max(data))} is too large")
    return release


def show_a_cell_behind_the_error(data: Any, **arguments: Any) -> Any:
    release = REAL_MEAN(data, **arguments)
    found = np.asarray(data, float)
    try:
        raise ValueError(str(found[found == CANARY].tolist()))
    except ValueError:
        if np.any(found == CANARY):
            raise plandp.ArgumentError("data", "is not right") from None
    return release


def unpickle(data: Any, **arguments: Any) -> Any:
    pickle.loads(pickle.dumps(np.float64(1.0)))
    return REAL_MEAN(data, **arguments)


def draw_more_for_some(data: Any, **arguments: Any) -> Any:
    return REAL_MEAN(data, **(arguments | ({"method": "unscaled"} if np.any(np.isnan(data)) else {})))


FAULTS: dict[Callable[..., Any], str] = {
    crash: "ValueError from ",
    refuse_by_value: "neighbours can be told apart",
    warn_by_value: "neighbours can be told apart",
    log_by_value: "neighbours can be told apart",
    print_by_value: "neighbours can be told apart",
    add_without_noise: "neighbours can be told apart",
    write_to_the_table: "a ndarray of the caller was changed",
    show_a_cell: "a message holds a value of the data",
    show_a_cell_behind_the_error: "a message holds a value of the data",
    unpickle: "something was unpickled or executed",
    draw_more_for_some: "neighbours ask the door different things",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found(fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plandp, "mean", fault)
    tally = in_this_process(ARRAYS, 60, start=1)
    assert any(FAULTS[fault] in what for what in tally.broken), tally.broken


def test_without_a_fault_nothing_is_found() -> None:
    tally = in_this_process(ARRAYS, 60, start=1)
    assert not tally.broken
    assert tally.ends == {"release": tally.cases}


def _compute() -> None:
    while True:
        pass


@pytest.mark.parametrize("hang", [lambda: time.sleep(60), _compute], ids=["waiting", "computing"])
def test_a_case_that_hangs_is_found(hang: Callable[[], None]) -> None:
    with pytest.raises(Broken, match="took too long"):
        watched(hang, seconds=0.05)


def test_the_second_clock_does_not_ring_while_the_first_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock = signal.setitimer

    def late(which: int, seconds: float) -> tuple[float, float]:
        if seconds == 0.0:
            signal.raise_signal(signal.SIGPROF)
        return set_clock(which, seconds)

    monkeypatch.setattr(signal, "setitimer", late)
    with pytest.raises(Broken, match="took too long"):
        watched(lambda: signal.raise_signal(signal.SIGALRM))
    assert watched(lambda: None).kind == "NoneType"


@pytest.mark.parametrize(
    "arguments", [{"kind": "binary"}, *({"bounds": (0, 9), "method": name} for name in plandp.methods.NAMES)], ids=str
)
def test_two_tables_with_the_same_answers_are_alike(arguments: dict[str, Any]) -> None:
    table = np.arange(12.0).reshape(6, 2)
    release = partial(plandp.mean, rho=1, **arguments)
    assert alike(partial(release, table), partial(release, -table)).kind == "release"


def test_the_watch_leaves_nothing_behind() -> None:
    handlers = list(logging.getLogger().handlers)
    watched(lambda: plandp.mean(np.ones((3, 1)), bounds=(0, 2), rho=1, method="gaussian"))
    assert logging.getLogger().handlers == handlers
    assert not watch._watching.is_set()
