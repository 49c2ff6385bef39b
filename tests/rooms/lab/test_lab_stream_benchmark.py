"""The benchmark of files works; what it finds is for people to read, since machines are noisy."""

from dataclasses import replace

import pytest

from plandp_lab.gauge import resident_peak
from plandp_lab.stream_benchmark import CASES, FileCost, main


@pytest.mark.parametrize("name", ["Parquet, a list", "Parquet, files of 1 MB"])
def test_the_quick_benchmark_prints_a_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "--only", name])
    printed = capsys.readouterr().out.splitlines()
    assert printed[-2].split()[0] == "file"
    assert printed[-1].startswith(name)
    assert " MB " in printed[-1]


@pytest.mark.parametrize(
    ("changed", "reached"),
    [({}, True), ({"release": 3.1}, False), ({"megabytes": 1001.0}, False), ({"reading": 0.9}, False)],
)
def test_what_is_required_is_held_against_what_was_measured(changed: dict[str, float], reached: bool) -> None:
    cost = FileCost(case=CASES[0], n=1, size=1, passes=2, reading=1.0, release=3.0, megabytes=1000.0)
    assert replace(cost, **changed).reached == reached


def test_the_peak_is_that_of_the_process() -> None:
    before = resident_peak()
    held = bytearray(2 * before)
    held[::4096] = b"x" * len(held[::4096])
    assert resident_peak() > 2 * before
