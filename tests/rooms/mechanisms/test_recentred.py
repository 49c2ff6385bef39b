import math

import numpy as np
import pytest

from plandp.mechanisms.recentred import Recentred

LOW, HIGH = np.array([-1.0, 0.0, -5.0]), np.array([1.0, 10.0, 5.0])
CENTER, FACTOR = np.array([0.25, 3.0, 0.0]), np.array([2.0, 0.1, 1.0])


def one_value(x: float, column: int, missing: list[float] | None) -> float:
    """The rule for one value, in plain Python."""
    if math.isnan(x):
        if missing is None:
            return 0.0
        x = missing[column]
    inside = min(max(x, float(LOW[column])), float(HIGH[column]))
    return (inside - float(CENTER[column])) * float(FACTOR[column])


@pytest.mark.parametrize("missing", [None, [0.5, 2.0, -5.0]])
def test_each_value_follows_the_rule_on_its_own(missing: list[float] | None) -> None:
    rng = np.random.default_rng(70)
    block = rng.normal(0, 6, (200, 3))
    special = [math.nan, math.inf, -math.inf, 1.7e308, -1.7e308, 5e-324, -0.0]
    block[: len(special)] = np.array(special)[:, None]
    block.flags.writeable = False
    public = None if missing is None else np.array(missing)
    view = Recentred(low=LOW, high=HIGH, missing=public, center=CENTER, factor=FACTOR)
    expected = [[one_value(x, column, missing) for column, x in enumerate(row)] for row in block.tolist()]
    assert view(block).tolist() == expected


def test_a_value_that_leaves_float64_is_no_nan() -> None:
    view = Recentred(
        low=np.array([-2.0]), high=np.array([2.0]), missing=None, center=np.zeros(1), factor=np.array([np.inf])
    )
    with np.errstate(all="ignore"):
        assert view(np.array([[0.0], [1.0], [-1.0], [np.nan]])).tolist() == [[0.0], [np.inf], [-np.inf], [0.0]]
