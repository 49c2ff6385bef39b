"""The fast stable order is NumPy's stable order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plandp.theory.stable_order import stable_order

VALUES = st.lists(
    st.one_of(st.floats(), st.sampled_from([0.0, -0.0, 1.0, float("nan"), float("inf"), -float("inf"), 5e-324])),
    max_size=60,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(values=VALUES)
def test_it_is_the_order_of_a_stable_sort(values: list[float]) -> None:
    array = np.array(values, np.float64)
    np.testing.assert_array_equal(stable_order(array), np.argsort(array, kind="stable"))


@pytest.mark.parametrize("different", [3, 1_000, 10**9], ids=["many ties", "some ties", "hardly a tie"])
def test_long_arrays_too(different: int) -> None:
    array = np.random.default_rng(1).integers(0, different, 20_000) / 7.0
    np.testing.assert_array_equal(stable_order(array), np.argsort(array, kind="stable"))
