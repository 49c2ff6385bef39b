"""The benchmark command works; what it finds is for people to read, since machines are noisy."""

import json
from dataclasses import replace

import numpy as np
import pytest

from plandp_lab.benchmark import CASES, Case, Cost, main
from plandp_lab.gauge import peak_bytes


def test_the_quick_benchmark_prints_a_line_and_writes_figures(tmp_path, capsys):
    main(["--quick", "--json", str(tmp_path / "costs.json")])
    printed = capsys.readouterr().out
    assert "2,000" in printed
    assert "import plandp:" in printed
    (cost,) = json.loads((tmp_path / "costs.json").read_text())["costs"]
    assert cost["release"] > cost["mean"] > 0


@pytest.mark.parametrize(
    ("changed", "reached"),
    [({}, True), ({"release": 0.81}, False), ({"memory": 0.51}, False), ({"mean": 0.08}, False)],
)
def test_what_is_required_is_held_against_what_was_measured(changed, reached):
    cost = Cost(case=Case(n=1, d=1, rho=1.0, most_times=8.0, most_seconds=0.8), mean=0.1, release=0.8, memory=0.5)
    assert replace(cost, **changed).reached == reached


def test_the_requirements_of_the_benchmark():
    assert [(case.n, case.d, case.most_times, case.most_seconds) for case in CASES[:2]] == [
        (100_000, 256, 8.0, None),
        (4_000, 1_024, None, 0.25),
    ]


def test_the_peak_counts_arrays_that_are_gone_again():
    assert peak_bytes(lambda: np.zeros(10**6).sum()) == pytest.approx(8e6, rel=0.1)
