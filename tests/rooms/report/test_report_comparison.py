"""A comparison as a pandas table and as a picture."""

import numpy as np
import pytest

import plandp

ASKED = {"n": 2000, "d": 20, "bounds": (0, 100), "rho": 0.1}


def test_one_row_per_method():
    pytest.importorskip("pandas")
    comparison = plandp.compare(**ASKED)
    frame = comparison.to_pandas()
    assert frame.index.tolist() == [contender.method for contender in comparison.contenders]
    assert frame.loc["plan", "predicted_error"] == comparison["plan"].predicted_error
    assert frame["measured_error"].isna().all()
    assert frame.loc["gaussian", "smallest_n"] == 1
    assert frame.loc["plan-classic", "problems"] == "; ".join(comparison["plan-classic"].problems)
    table = np.random.default_rng(0).normal(40, 10, (500, 2))
    measured = plandp.compare(public_data=table, bounds=(0, 100), rho=0.1, methods=["plan", "gaussian"], runs=3)
    frame = measured.to_pandas()
    for name in ("plan", "gaussian"):
        assert frame.loc[name, "measured_error"] == measured[name].measured_error
        assert frame.loc[name, "worst_error"] == max(measured[name].measured_errors)


def test_a_bar_for_every_error(tmp_path):
    pytest.importorskip("matplotlib")
    comparison = plandp.compare(**ASKED)
    figure = comparison.plot(tmp_path / "methods.svg")
    assert (tmp_path / "methods.svg").read_text(encoding="utf-8").startswith("<?xml")
    (ax,) = figure.axes
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        contender.method for contender in comparison.contenders
    ]
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [contender.predicted_error for contender in comparison.contenders]
    doubtful = [bool(bar.get_hatch()) for bar in ax.patches]
    assert doubtful == [not contender.feasible for contender in comparison.contenders]
    lines = sorted(line.get_xdata()[0] for line in ax.lines)
    assert lines == sorted([comparison.oracle_error, comparison.sampling_error])
    measured = plandp.compare(
        public_data=np.random.default_rng(0).normal(40, 10, (500, 2)),
        bounds=(0, 100),
        rho=0.1,
        methods=["plan", "gaussian"],
        runs=2,
    )
    assert len(measured.plot().axes[0].patches) == 4


def test_extreme_errors_can_be_drawn():
    pytest.importorskip("matplotlib")
    plandp.compare(n=1, d=1, bounds=(-1e30, 1e30), rho=1e-12).plot()
