"""Choices of sparse kinds: what is said of bounds that are not a pair."""

import pytest

from plandp.errors import ArgumentError
from plandp.terms.choices import read_sparse_columns


@pytest.mark.parametrize("measure", [None, "count"])
@pytest.mark.parametrize(("bounds", "given"), [(50, "an int"), (7.5, "a float"), ("0:50", "a str")])
def test_one_number_or_text_is_not_a_pair(bounds: object, given: str, measure: str | None) -> None:
    asked = {"bounds": bounds, "error_scale": None, "measure": measure}
    with pytest.raises(ArgumentError) as caught:
        read_sparse_columns(["tea"], kind="nonnegative", **asked)  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"bounds: {given} is not accepted; pass bounds=(0, 50), say, the least and the most of an item"
    )
    with pytest.raises(ArgumentError) as caught:
        read_sparse_columns(["tea"], kind="binary", **asked)  # type: ignore[arg-type]
    assert str(caught.value) == f"bounds: {given} is not accepted; leave bounds out"


def test_pairs_by_item_are_read() -> None:
    columns = read_sparse_columns(
        ["tea", "cake"], kind="nonnegative", bounds={"cake": (0, 2), "tea": (0, 5)}, error_scale=None
    )
    assert columns.high.tolist() == [5.0, 2.0]
