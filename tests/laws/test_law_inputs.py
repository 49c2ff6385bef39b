"""The law of guests: nothing that a caller hands over is changed."""

import copy

import numpy as np
import pytest

import plandp


def test_no_table_and_no_argument_is_changed() -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    rng = np.random.default_rng(66)
    table = rng.normal(0, 1, (300, 3))
    table[3] = np.nan
    table[4] = np.inf
    named = {f"c{i}": table[:, i].copy() for i in range(3)}
    arguments = {
        "bounds": np.array([[-5.0, 5.0]] * 3),
        "error_scale": np.array([1.0, 2.0, 3.0]),
        "smallest_spread": np.array([0.1, 0.2, 0.3]),
        "spread": np.array([1.0, 1.0, 1.0]),
        "missing": np.zeros(3),
    }
    kept = copy.deepcopy(arguments)
    for method in ("plan", "unscaled", "gaussian", "mahalanobis", "iome", "coinpress", "plan-classic"):
        for order in ("C", "F"):
            given = np.array(table, order=order)
            plandp.mean(given, rho=1, method=method, testing_seed=1, **arguments)
            assert given.tobytes(order="C") == table.tobytes()
            locked = np.array(table, order=order)
            locked.flags.writeable = False
            plandp.mean(locked, rho=1, method=method, testing_seed=1, **arguments)
    for name, value in arguments.items():
        assert value.tobytes() == kept[name].tobytes()
        assert value.flags.writeable
    frame, lazy, arrow = pandas.DataFrame(named), polars.DataFrame(named), pyarrow.table(named)
    before = frame.copy(deep=True), lazy.clone(), arrow.to_pydict()
    for data in (frame, lazy, arrow):
        plandp.mean(data, bounds=(-5, 5), rho=1, testing_seed=1)
    pandas.testing.assert_frame_equal(frame, before[0])
    assert lazy.equals(before[1], null_equal=True)
    assert repr(arrow.to_pydict()) == repr(before[2])
