"""Entries of an older plandp stay valid to the byte, and what was added since is in the hash chain."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from plandp.errors import LedgerDamaged
from plandp.ledger.entries import Entry, read_entry

OLD_REGISTER = (
    '{"dataset":"survey","kind":"register","neighbours":"replace one row","number":1,"person":null,"previous":"",'
    '"privacy_unit":"row","rho":"1/1","schema":"plandp/ledger-entry/1","spent":"0/1","time":"2026-09-01T08:00Z"}'
)
OLD_COMMIT = (
    '{"dataset":"survey","kind":"commit","number":3,"paid":"1/8","previous":"ab","release_hash":"cd","reservation":2,'
    '"rho":"1/8","schema":"plandp/ledger-entry/1","spent":"1/8"}'
)


@pytest.mark.parametrize(("number", "content"), [(1, OLD_REGISTER), (3, OLD_COMMIT)])
def test_old_entries_are_read_as_they_were_written(number: int, content: str) -> None:
    entry = read_entry("survey", number, content)
    assert entry.content() == content
    assert (entry.epsilon, entry.delta, entry.what) == (None, None, None)


@pytest.mark.parametrize(
    ("content", "number", "said"),
    [(OLD_REGISTER, 1, {"epsilon": 3.0, "delta": 1e-6}), (OLD_COMMIT, 3, {"what": "plan, 300 × 2: a, b"})],
)
def test_what_is_said_since_is_part_of_the_hash(content: str, number: int, said: dict[str, object]) -> None:
    old = read_entry("survey", number, content)
    new = replace(old, **said)  # type: ignore[arg-type]
    assert isinstance(new, Entry)
    assert new.hash() != old.hash()
    assert read_entry("survey", number, new.content()) == new
    assert new.rho == old.rho >= Fraction(1, 8)


@pytest.mark.parametrize("wrong", [None, 7, ["plan"]])
def test_anything_else_in_their_place_is_damage(wrong: object) -> None:
    content = json.dumps(json.loads(OLD_COMMIT) | {"what": wrong}, sort_keys=True, separators=(",", ":"))
    with pytest.raises(LedgerDamaged):
        read_entry("survey", 3, content)
    content = json.dumps(json.loads(OLD_REGISTER) | {"epsilon": wrong}, sort_keys=True, separators=(",", ":"))
    with pytest.raises(LedgerDamaged):
        read_entry("survey", 1, content)
