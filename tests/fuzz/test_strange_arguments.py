"""Each argument of each function against each of 150 strange values, one at a time."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas
import pytest

import plandp
from plandp_lab.fuzz.arguments import EVERY
from plandp_lab.fuzz.same_answers import alike
from plandp_lab.fuzz.values import STRANGE, pandas_strangers

TABLE = np.array([[1.0, 2.0], [3.0, 4.0]])
EVENTS = pandas.DataFrame({"user": ["u1", "u2"], "page": ["home", "help"], "amount": [1.0, 2.0]})
SPAN, HUGE = np.timedelta64(3, "s"), 10**5000
VALUES = [
    *STRANGE,
    *pandas_strangers(),
    *((0, HUGE), [HUGE], {HUGE: (0, 1)}, {0: HUGE, 1: 1}, {SPAN: 1}, [SPAN, SPAN], (0, SPAN)),
]
COST = {"rho": 1, "testing_seed": 1}
OF_CHECK = tuple(name for name in EVERY if name not in ("columns", "missing", "refine", "sampler", "testing_seed"))
OF_EVENTS = tuple(
    name for name in EVERY if name not in ("columns", "kind", "method", "missing", "smallest_spread", "spread")
)
CALLS: dict[str, tuple[Callable[..., object], dict[str, Any], tuple[str, ...]]] = {
    "real": (partial(plandp.mean, TABLE), COST | {"bounds": (0, 5), "method": "gaussian"}, EVERY),
    "binary": (partial(plandp.mean, TABLE), COST | {"kind": "binary"}, EVERY),
    "counts": (partial(plandp.mean, TABLE), COST | {"kind": "nonnegative", "bounds": (0, 5)}, EVERY),
    "events": (
        partial(plandp.mean_of_events, EVENTS),
        COST
        | {"person": "user", "item": "page", "items": ["home"], "people": 3, "measure": "amount", "bounds": (0, 5)},
        ("person", "item", "items", "people", "measure", *OF_EVENTS),
    ),
    "check": (
        plandp.check,
        {"n": 100, "d": 2, "rho": 1, "bounds": (0, 5), "method": "gaussian"},
        ("n", "d", *OF_CHECK),
    ),
    "check of counts": (
        plandp.check,
        {"n": 100, "d": 2, "rho": 1, "bounds": (0, 5), "kind": "nonnegative"},
        ("n", "d", *OF_CHECK),
    ),
}


def _tried(name: str, every: int) -> int:
    call, right, names = CALLS[name]
    cases = [(argument, value) for argument in names for value in VALUES][::every]
    for argument, value in cases:
        asked = partial(call, **(right | {argument: value}))
        alike(asked, asked, briefly=True)
    return len(cases)


@pytest.mark.parametrize("name", CALLS)
def test_some_strange_arguments_are_refused_or_taken(name: str) -> None:
    assert _tried(name, every=31) > 30


@pytest.mark.long
@pytest.mark.parametrize("name", CALLS)
def test_all_strange_arguments_are_refused_or_taken(name: str) -> None:
    assert _tried(name, every=1) > 1500
