"""Whatever is edited, removed or moved in the rows of a ledger, verify names it."""

import json
import sqlite3
from contextlib import closing, suppress
from fractions import Fraction

import numpy as np
import pytest

from plandp import ArgumentError, Ledger, LedgerDamaged, LedgerUnavailable, PlandpError
from plandp.ledger.entries import text_hash

CHAIN = ["register", "reserve", "commit", "reserve", "cancel", "reserve"]


@pytest.fixture(scope="module")
def written(tmp_path_factory, release):
    """The file of a ledger whose dataset has every kind of entry, and of a second dataset."""
    file = tmp_path_factory.mktemp("ledger") / "budget.sqlite"
    ledger = Ledger(file)
    ledger.register("survey", rho=1)
    with ledger.reserve("survey", rho="1/8") as reservation:
        reservation.reading()
        reservation.commit(release)
    with ledger.reserve("survey", rho="1/4"):
        pass
    ledger.reserve("survey", rho="1/2")
    ledger.register("other", rho=1, person="user")
    assert [entry.kind for entry in ledger.history("survey")] == CHAIN
    ledger.verify()
    return file.read_bytes()


@pytest.fixture
def filled(written, tmp_path):
    """A ledger in a copy of that file."""
    (tmp_path / "budget.sqlite").write_bytes(written)
    return Ledger(tmp_path / "budget.sqlite")


def edit(ledger, statement, *values):
    with closing(sqlite3.connect(ledger.place, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        assert connection.execute(statement, values).rowcount > 0


def content_of(ledger, number):
    with closing(sqlite3.connect(ledger.place)) as connection:
        (content,) = connection.execute(
            "SELECT content FROM plandp_entry WHERE dataset = 'survey' AND number = ?", (number,)
        ).fetchone()
    return content


def named(ledger):
    """Return the dataset and number that verify names."""
    with pytest.raises(LedgerDamaged) as caught:
        ledger.verify()
    return caught.value.dataset, caught.value.number


FIELDS = [
    (number, field)
    for number, kind in enumerate(CHAIN, start=1)
    for field in (
        *("schema", "dataset", "number", "kind", "rho", "spent", "previous"),
        *{
            "register": ("person", "neighbours", "privacy_unit", "time"),
            "reserve": ("time", "host", "pid", "process_start"),
            "commit": ("reservation", "paid", "release_hash"),
            "cancel": ("reservation",),
        }[kind],
    )
]
OTHERS = {
    "schema": "plandp/ledger-entry/2",
    "dataset": "other",
    "number": 9,
    "kind": "reserve",
    "rho": "1/16",
    "spent": "1/16",
    "previous": "0" * 64,
    "person": "user",
    "neighbours": "add one row",
    "privacy_unit": "person",
    "time": "2020-01-01T00:00Z",
    "host": "elsewhere",
    "pid": 1,
    "process_start": None,
    "reservation": 6,
    "paid": "1/16",
    "release_hash": "0" * 64,
}


@pytest.mark.parametrize(("number", "field"), FIELDS)
def test_an_edited_field_is_named(filled, number, field):
    said = json.loads(content_of(filled, number))
    assert said[field] != OTHERS[field] or field == "kind"
    said[field] = "register" if said[field] == OTHERS[field] else OTHERS[field]
    written = json.dumps(said, sort_keys=True, separators=(",", ":"))
    edit(filled, "UPDATE plandp_entry SET content = ? WHERE dataset = 'survey' AND number = ?", written, number)
    assert named(filled) == ("survey", number)


@pytest.mark.parametrize(("number", "field"), FIELDS)
def test_an_edited_field_with_its_hash_made_anew_is_seen(filled, number, field):
    said = json.loads(content_of(filled, number))
    said[field] = "register" if said[field] == OTHERS[field] else OTHERS[field]
    written = json.dumps(said, sort_keys=True, separators=(",", ":"))
    statement = "UPDATE plandp_entry SET content = ?, hash = ? WHERE dataset = 'survey' AND number = ?"
    edit(filled, statement, written, text_hash(written), number)
    # The entry itself where it breaks a rule; otherwise the next, which was made to follow another one.
    dataset, found = named(filled)
    assert dataset == "survey"
    assert found in (number, number + 1)


def test_every_edited_character_is_seen(filled):
    content = content_of(filled, 2)
    for place in range(len(content)):
        other = content[:place] + ("x" if content[place] != "x" else "y") + content[place + 1 :]
        edit(filled, "UPDATE plandp_entry SET content = ? WHERE dataset = 'survey' AND number = 2", other)
        assert named(filled) == ("survey", 2)
    edit(filled, "UPDATE plandp_entry SET content = ? WHERE dataset = 'survey' AND number = 2", content)
    filled.verify()


@pytest.mark.parametrize("number", range(1, len(CHAIN) + 1))
def test_a_removed_entry_is_seen(filled, number):
    edit(filled, "DELETE FROM plandp_entry WHERE dataset = 'survey' AND number = ?", number)
    assert named(filled) == ("survey", min(number, len(CHAIN) - 1))


@pytest.mark.parametrize("number", range(1, len(CHAIN)))
def test_a_removed_entry_is_seen_when_the_others_close_up(filled, number):
    edit(filled, "DELETE FROM plandp_entry WHERE dataset = 'survey' AND number = ?", number)
    for later in range(number + 1, len(CHAIN) + 1):
        edit(filled, "UPDATE plandp_entry SET number = ? WHERE dataset = 'survey' AND number = ?", later - 1, later)
    assert named(filled) == ("survey", number)


@pytest.mark.parametrize("number", range(1, len(CHAIN)))
def test_exchanged_entries_are_seen(filled, number):
    move = "UPDATE plandp_entry SET number = ? WHERE dataset = 'survey' AND number = ?"
    edit(filled, move, 99, number)
    edit(filled, move, number, number + 1)
    edit(filled, move, number + 1, 99)
    assert named(filled) == ("survey", number)


def test_a_copied_entry_is_seen(filled):
    edit(
        filled,
        "INSERT INTO plandp_entry SELECT dataset, 7, reservation, content, hash FROM plandp_entry "
        "WHERE dataset = 'survey' AND number = 6",
    )
    assert named(filled) == ("survey", 7)


@pytest.mark.parametrize(
    ("statement", "where"),
    [
        ("UPDATE plandp_entry SET hash = 'x' WHERE dataset = 'survey' AND number = 4", ("survey", 4)),
        ("UPDATE plandp_entry SET reservation = 6 WHERE dataset = 'survey' AND number = 3", ("survey", 3)),
        ("UPDATE plandp_entry SET reservation = NULL WHERE dataset = 'survey' AND number = 5", ("survey", 5)),
        ("UPDATE plandp_entry SET content = x'00' WHERE dataset = 'survey' AND number = 4", ("survey", 4)),
        ("UPDATE plandp_entry SET dataset = 'elsewhere' WHERE dataset = 'other'", ("other", 1)),
        ("UPDATE plandp_dataset SET head = 'x' WHERE dataset = 'survey'", ("survey", 6)),
        ("UPDATE plandp_dataset SET entries = 5 WHERE dataset = 'survey'", ("survey", 6)),
        ("UPDATE plandp_dataset SET dataset = 'surveys' WHERE dataset = 'survey'", ("surveys", 1)),
        ("DELETE FROM plandp_dataset WHERE dataset = 'survey'", ("survey", 1)),
        ("DELETE FROM plandp_release", ("survey", 3)),
        ("UPDATE plandp_release SET release = replace(release, '20', '21')", ("survey", 3)),
        ("UPDATE plandp_release SET number = 2", ("survey", 3)),
        ("INSERT INTO plandp_release SELECT dataset, 5, release FROM plandp_release", ("survey", 5)),
        ("INSERT INTO plandp_release SELECT 'nobody', 5, release FROM plandp_release", ("nobody", 5)),
    ],
)
def test_other_edits_are_seen(filled, statement, where):
    edit(filled, statement)
    assert named(filled) == where


def rewrite(ledger, number, **changed):
    """Write an entry and all that follow it anew, each with the right hashes, as only a forger would."""
    with closing(sqlite3.connect(ledger.place)) as connection, connection:
        rows = connection.execute(
            "SELECT number, content, hash FROM plandp_entry WHERE dataset = 'survey' AND number >= ? ORDER BY number",
            (number,),
        ).fetchall()
        before = json.loads(rows[0][1])["previous"]
        for place, content, _ in rows:
            said = json.loads(content) | {"previous": before} | (changed if place == number else {})
            written = json.dumps(said, sort_keys=True, separators=(",", ":"))
            before = text_hash(written)
            connection.execute(
                "UPDATE plandp_entry SET content = ?, hash = ?, reservation = ? "
                "WHERE dataset = 'survey' AND number = ?",
                (written, before, said.get("reservation"), place),
            )
        connection.execute("UPDATE plandp_dataset SET head = ? WHERE dataset = 'survey'", (before,))


@pytest.mark.parametrize(
    ("number", "changed", "problem"),
    [
        (1, {"rho": "1/4"}, "spends more than the total"),
        (1, {"rho": "0/1"}, "does not add up"),
        (1, {"rho": "2/2"}, "is not spelled as plandp writes it"),
        (1, {"neighbours": "add or remove one row"}, "has neighbours that do not belong to its unit"),
        (1, {"person": "user"}, "has neighbours that do not belong to its unit"),
        (2, {"rho": "1/16", "spent": "1/16"}, "does not belong to an open reservation of its rho"),
        (2, {"rho": "-1/8", "spent": "-1/8"}, "does not add up"),
        (2, {"spent": "0/1"}, "does not add up"),
        (3, {"reservation": 1}, "does not belong to an open reservation of its rho"),
        (3, {"paid": "1/4"}, "does not belong to an open reservation of its rho"),
        (3, {"paid": "1/16"}, "has a release of another price"),
        (3, {"release_hash": "0" * 64}, "has another release than was stored"),
        (5, {"reservation": 6}, "does not belong to an open reservation of its rho"),
        (5, {"spent": "3/8"}, "does not add up"),
        (6, {"rho": "7/8", "spent": "1/1"}, None),
        (6, {"rho": "15/16", "spent": "17/16"}, "spends more than the total"),
        (6, {"pid": True}, "is not an entry that plandp writes"),
        (6, {"pid": "7"}, "is not an entry that plandp writes"),
        (6, {"host": None}, "is not an entry that plandp writes"),
        (6, {"time": "yesterday"}, "is not an entry that plandp writes"),
        (6, {"kind": "refund"}, "is not an entry that plandp writes"),
        (6, {"note": "more"}, "is not spelled as plandp writes it"),
    ],
)
def test_even_a_chain_with_right_hashes_must_add_up(filled, number, changed, problem):
    rewrite(filled, number, **changed)
    if problem is None:  # what a forger can do: see docs/decisions/0009-ledger.md
        assert filled.verify().entries == 7
        return
    with pytest.raises(LedgerDamaged, match=f"{problem}$"):
        filled.verify()


def test_a_chain_that_was_cut_off_and_its_head_set_back_cannot_be_told_but_by_a_kept_head(filled):
    kept = filled.verify().heads["survey"]
    hashes = [entry.hash() for entry in filled.history("survey")]
    edit(filled, "DELETE FROM plandp_entry WHERE dataset = 'survey' AND number = 6")
    edit(filled, "UPDATE plandp_dataset SET entries = 5, head = ? WHERE dataset = 'survey'", hashes[4])
    filled.verify()
    assert kept not in [entry.hash() for entry in filled.history("survey")]


def test_a_damaged_end_stops_further_spending_and_showing(filled, release):
    edit(filled, "UPDATE plandp_dataset SET entries = 4 WHERE dataset = 'survey'")
    for ask in (
        lambda: filled.reserve("survey", rho="1/100"),
        lambda: filled.status("survey"),
        lambda: filled.history("survey"),
        lambda: filled.release("survey", 2),
        filled.datasets,
        filled.export,
    ):
        with pytest.raises(LedgerDamaged):
            ask()
    assert filled.status("other").left == 1


def test_a_commit_into_a_damaged_ledger_does_not_lose_the_release(filled, release):
    reservation = filled.reserve("survey", rho="1/8")
    reservation.reading()
    edit(filled, "UPDATE plandp_dataset SET head = 'x' WHERE dataset = 'survey'")
    with pytest.raises(LedgerDamaged) as caught:
        reservation.commit(release)
    assert caught.value.release is release


def test_a_reservation_that_is_gone_takes_no_commit(file_ledger, release, tmp_path):
    """A backup is put back between reserve and commit: then the release belongs to nothing, and is not lost."""
    backup = (tmp_path / "budget.sqlite").read_bytes()
    with file_ledger.reserve("survey", rho="1/8") as reservation:
        reservation.reading()
        (tmp_path / "budget.sqlite").write_bytes(backup)
        with pytest.raises(LedgerDamaged, match=r"^entry 2 of dataset 'survey' is missing$") as caught:
            reservation.commit(release)
    assert caught.value.release is release


def test_a_release_of_a_later_plandp_is_told_apart_from_damage_by_verify(filled, release):
    text = release.to_json().replace("plandp/mean-release/1", "plandp/mean-release/2")
    rewrite(filled, 3, release_hash=text_hash(text))
    edit(filled, "UPDATE plandp_release SET release = ?", text)
    with pytest.raises(LedgerDamaged, match="has a release that this plandp cannot read"):
        filled.verify()
    assert filled.status("survey").spent == Fraction(5, 8)


@pytest.mark.parametrize("text", [b"not a database, but long enough to look at " * 50, b"a,b\n1,2\n", b"PK\x03\x04"])
def test_a_file_that_is_no_ledger_is_refused_and_left_alone(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_bytes(text)
    for ask in (Ledger(path).verify, lambda: Ledger(path).register("survey", rho=1)):
        with pytest.raises(ArgumentError, match=r"^ledger: .* is not a ledger"):
            ask()
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE plandp_dataset SET dataset = x'ff00' WHERE dataset = 'other'",
        "UPDATE plandp_dataset SET entries = 'many'",
        "UPDATE plandp_dataset SET head = x'00'",
        "UPDATE plandp_entry SET number = 'first' WHERE number = 1",
        "UPDATE plandp_entry SET number = 2.5 WHERE number = 2",
        "UPDATE plandp_entry SET content = CAST(x'fffe' AS TEXT) WHERE number = 2",
        "UPDATE plandp_entry SET hash = 7",
        "UPDATE plandp_entry SET reservation = 'x' WHERE reservation = 2",
        "UPDATE plandp_release SET release = 7",
        "UPDATE plandp_release SET release = CAST(x'fffe' AS TEXT)",
        "UPDATE plandp_ledger_version SET version_num = x'31'",
        "UPDATE plandp_ledger_version SET version_num = '999'",
        "UPDATE plandp_ledger_version SET version_num = ''",
        "INSERT INTO plandp_ledger_version VALUES ('2')",
        "DELETE FROM plandp_ledger_version WHERE 1",
    ],
)
def test_values_of_any_type_in_any_column_are_refused_in_plain_words(filled, statement):
    edit(filled, statement)
    for ask in (filled.verify, filled.export, filled.datasets):
        with suppress(PlandpError):
            ask()
    with pytest.raises(PlandpError):
        filled.verify()


@pytest.mark.parametrize("table", ["plandp_dataset", "plandp_entry", "plandp_release", "plandp_ledger_version"])
def test_a_table_that_is_gone_is_told(filled, table):
    with closing(sqlite3.connect(filled.place)) as connection:
        connection.execute(f"DROP TABLE {table}")
    for ask in (filled.verify, lambda: filled.register("third", rho=1) if "version" in table else filled.verify()):
        with pytest.raises((ArgumentError, LedgerUnavailable)):
            ask()


def test_random_bytes_in_the_file_never_crash(written, tmp_path):
    """Whatever a disk does to the file, the answer is an error of plandp, or the truth."""
    chance, file = np.random.default_rng(5), tmp_path / "budget.sqlite"
    truth = None
    for _ in range(150):
        spoilt = bytearray(written)
        for place in chance.integers(0, len(spoilt), size=int(chance.integers(0, 20))):
            spoilt[place] = chance.integers(0, 256)
        file.write_bytes(spoilt[: int(chance.integers(0, len(spoilt)))] if chance.random() < 0.2 else spoilt)
        for rest in tmp_path.glob("*-journal"):
            rest.unlink()
        ledger = Ledger(file)
        truth = truth or ledger_of(written, tmp_path).export()
        try:
            assert {one["dataset"] for one in ledger.export()["datasets"]} <= {"survey", "other"}
            ledger.verify()
        except PlandpError:
            continue
        assert ledger.export() == truth


def ledger_of(written, folder):
    (folder / "whole.sqlite").write_bytes(written)
    return Ledger(folder / "whole.sqlite")
