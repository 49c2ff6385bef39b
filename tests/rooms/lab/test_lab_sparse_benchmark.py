"""The sparse benchmark works; what it finds is for people to read, since machines are noisy."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import scipy.sparse as sp

import plandp
import plandp_lab.sparse_benchmark as benchmark
from plandp.data.open_sparse import open_sparse_rows
from plandp_lab.gauge import cpu_seconds_of
from plandp_lab.sparse_benchmark import CASES, SMALL, SparseCost, main


def test_the_quick_benchmark_prints_a_line(monkeypatch, capsys):
    monkeypatch.setattr(benchmark, "REPEATS", 2)
    main(["--quick"])
    printed = capsys.readouterr().out
    assert "row-wise" in printed
    (line,) = [line for line in printed.splitlines() if line.split()[:2] == ["500", "50"]]
    assert line.endswith("MB")  # a small table is held to nothing


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ({}, True),
        ({"row_wise": 2.51}, False),
        ({"release": 15.1}, False),
        ({"memory": 401}, False),
        ({"noise": 1.0}, True),  # few items: what a draw costs as such is not held against one of them
        ({"case": CASES[0], "noise": 27_983 * 0.14e-6}, True),
        ({"case": CASES[0], "noise": 27_983 * 0.16e-6}, False),
    ],
)
def test_what_is_required_is_held_against_what_was_measured(changed, reached):
    cost = SparseCost(case=SMALL, ones=100, indices=400, sum=1.0, row_wise=2.5, release=15.0, noise=0.0, memory=400)
    assert replace(cost, **changed).reached == reached
    assert benchmark._line(replace(cost, **changed))[-1].endswith("NOT REACHED") == (not reached)
    assert replace(cost, case=replace(SMALL, required=False), release=99.0).reached


def test_the_shapes_are_those_of_kosarak_and_pos_and_a_million_items():
    shapes = [(case.baskets.n, case.baskets.d, case.baskets.entries, case.required) for case in CASES]
    assert shapes[:2] == [(75_462, 27_983, 4_194_414, True), (515_596, 1_657, 3_367_019, True)]
    assert shapes[2][1:] == (1_000_000, 4_000_000, False)
    assert CASES[0].baskets.least == 20


def test_every_pass_of_a_release_is_row_wise_work(monkeypatch):
    # the clock moves by a second whenever it is read, so that the row-wise work takes as many as there are passes
    clock = count()
    monkeypatch.setattr(benchmark, "process_time", lambda: next(clock))
    monkeypatch.setattr(benchmark, "cpu_seconds_of", lambda work: 1.0)
    cost = benchmark.cost_of(SMALL)
    passes = plandp.mean(SMALL.baskets.draw(np.random.default_rng(0)).rows, kind="binary", rho=1).receipt.passes
    assert (cost.sum, cost.row_wise, cost.release, cost.noise) == (1.0, float(passes), 1.0, 1.0)


def test_a_pass_lasts_until_its_last_block_was_done_with(monkeypatch):
    rows = benchmark.TimedRows(rows=open_sparse_rows(sp.csr_array(np.eye(2)), binary=True))
    now = [0.0]
    monkeypatch.setattr(benchmark, "process_time", lambda: now[0])
    for _ in rows.blocks():
        now[0] += 7.0
    rows.fold(lambda block: (np.zeros(int(now[0])),))
    assert (rows.seconds, rows.passes) == ([7.0, 0.0], 2)


def test_work_of_this_process_takes_time():
    assert cpu_seconds_of(lambda: sum(range(10**5))) > 0
