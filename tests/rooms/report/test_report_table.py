"""The pandas table of a release."""

import sys

import numpy as np
import pytest

from plandp.errors import MissingExtra


def test_one_row_per_column_with_its_own_interval(release_of):
    pytest.importorskip("pandas")
    release = release_of(labels=("age", 7, "λ"))
    table = release.to_pandas()
    assert list(table.index) == ["age", 7, "λ"]
    assert list(table.columns) == ["estimate", "noise_std", "low", "high"]
    interval = release.interval(0.95)
    for name, values in {
        "estimate": release.estimate,
        "noise_std": release.noise_std,
        "low": interval.low,
        "high": interval.high,
    }.items():
        assert table[name].dtype == np.float64
        assert table[name].tolist() == values.tolist()


def test_editing_the_table_leaves_the_release_alone(release_of):
    pytest.importorskip("pandas")
    release = release_of()
    before = release.to_json()
    table = release.to_pandas()
    table.loc["c0", "estimate"] = 1e9
    table.iloc[:, :] = 0
    assert release.to_json() == before


def test_without_pandas_the_extra_is_named(release_of, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"plandp\[pandas\]") as refusal:
        release_of().to_pandas()
    assert refusal.value.__cause__ is None
