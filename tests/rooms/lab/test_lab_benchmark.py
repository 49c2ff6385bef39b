"""The benchmark command works; what it finds is for people to read, since machines are noisy."""

import json
from dataclasses import replace

import numpy as np
import pytest

from plandp import algorithm
from plandp.noise.meter import MeteredNoise
from plandp_lab.benchmark import CASES, Case, Cost, main
from plandp_lab.gauge import peak_bytes
from plandp_lab.growth import LONG, WIDE
from plandp_lab.time_spent import time_spent


def test_the_quick_benchmark_prints_a_line_and_writes_figures(tmp_path, capsys):
    main(["--quick", "--json", str(tmp_path / "costs.json")])
    printed = capsys.readouterr().out
    assert "2,000" in printed
    for way in (
        "float32",
        "columns (F order)",
        "pandas frame",
        "pandas frame of several types",
        "without Numba",
        "threads=2",
        "import plandp:",
    ):
        assert way in printed
    (cost,) = json.loads((tmp_path / "costs.json").read_text())["costs"]
    assert cost["release"] > cost["mean"] > 0


def test_where_the_time_goes_is_all_of_it(capsys):
    main(["--quick", "--profile"])
    lines = [line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines()[3:]]
    shares = {name.strip(): float(share) for name, share in lines}
    assert shares.pop("all, in ms") > 0
    assert abs(sum(shares.values()) - 100) <= len(shares) / 2  # each is rounded
    assert all(shares[part] >= 0 for part in ("the pass over all rows", "noise and payments", "everything else"))


def test_watching_leaves_everything_as_it_was():
    before, seen = (algorithm.public_sample, MeteredNoise.release), []

    def run():
        seen.append((algorithm.public_sample, MeteredNoise.release))
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        time_spent(run, repeats=1)
    assert seen[0] == before == (algorithm.public_sample, MeteredNoise.release)
    assert seen[1][0] is not before[0]


def test_growth_is_drawn(tmp_path, capsys):
    main(["--quick", "--growth", str(tmp_path / "pictures" / "growth.svg")])
    assert (tmp_path / "pictures" / "growth.svg").read_text().startswith("<?xml")
    assert capsys.readouterr().out.count("release") == 4
    assert (LONG[-1].n, LONG[-1].d, WIDE[-1].d) == (10_000_000, 16, 100_000)


@pytest.mark.parametrize(
    ("changed", "reached"),
    [({}, True), ({"release": 0.81}, False), ({"memory": 0.41}, False), ({"mean": 0.08}, False)],
)
def test_what_is_required_is_held_against_what_was_measured(changed, reached):
    cost = Cost(case=Case(n=1, d=1, rho=1.0, most_times=8.0, most_seconds=0.8), mean=0.1, release=0.8, memory=0.4)
    assert replace(cost, **changed).reached == reached


def test_the_requirements_of_the_benchmark():
    assert [(case.n, case.d, case.rho, case.most_times, case.most_seconds) for case in CASES] == [
        (100_000, 256, 1.0, 4.0, None),
        (100_000, 256, 0.01, 8.0, None),
        (1_000_000, 64, 1.0, 2.0, None),
        (10_000, 1_024, 1.0, None, 0.15),
        (4_000, 1_024, 1.0, None, 0.12),
    ]


def test_the_peak_counts_arrays_that_are_gone_again():
    assert peak_bytes(lambda: np.zeros(10**6).sum()) == pytest.approx(8e6, rel=0.1)
