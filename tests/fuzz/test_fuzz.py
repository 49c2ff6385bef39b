"""Hostile input for every public entry: a few cases of each kind here, 100,000 in the long run."""

import pytest

pytest.importorskip("pandas")
pytest.importorskip("polars")
pytest.importorskip("pyarrow")

from plandp_lab.fuzz.batch import Tally, in_own_process, in_this_process
from plandp_lab.fuzz.targets import TARGETS, Target

SHORT = 400  # cases of all kinds together
LONG = 100_000
by_name = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name.replace(" ", "-"))


def _cases(target: Target, of: int) -> int:
    return max(15, round(of * target.share / sum(target.share for target in TARGETS)))


def _is_whole(tally: Tally) -> None:
    assert not tally.broken, "\n\n".join(f"{what}\n{case}" for what, case in tally.broken.items())


@by_name
def test_no_promise_is_broken(target: Target) -> None:
    tally = in_this_process(target, _cases(target, SHORT), start=20_261_116)
    _is_whole(tally)
    # Cases that are all refused would try nothing.
    assert tally.cases >= 10
    all_refused = tally.ends["refusal"] + tally.ends["exit 2"] == tally.cases
    assert not all_refused or target.name in ("anything", "arguments", "ledgers")


@pytest.mark.long
@by_name
def test_no_promise_is_broken_in_many_cases(target: Target) -> None:
    whole = _cases(target, LONG)
    total = Tally()
    for done in range(0, whole, 1000):
        total.add(in_own_process(target, min(1000, whole - done), start=done))
    _is_whole(total)
    assert total.cases >= 0.9 * whole
