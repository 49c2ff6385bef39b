"""A full disk, a read-only file, a lock, a lost server: a clear error, nothing overspent, no release lost."""

import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing, contextmanager
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
import sqlalchemy
from forked import in_a_fork
from postgres_server import running_server

from plandp import ArgumentError, Ledger, LedgerUnavailable
from plandp.ledger import engines


@pytest.fixture
def open_folder():
    """A folder that every user may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp(prefix="plandp-ledger-"))
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


@contextmanager
def files_no_larger_than(size):
    """What a full disk looks like, without being root."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def told(ask):
    """Return what LedgerUnavailable says."""
    try:
        ask()
    except LedgerUnavailable as error:
        return error.problem
    return "nothing"


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "expected"),
    [
        (0o444, 0o777, "attempt to write a readonly database; make the file and its folder writable for this user"),
        (0o666, 0o555, "attempt to write a readonly database; make the file and its folder writable for this user"),
        (0o000, 0o777, "unable to open database file; the folder must exist, and it and the file must be writable"),
    ],
)
def test_a_read_only_ledger_can_be_shown_but_nothing_is_spent(open_folder, file_mode, folder_mode, expected):
    file = open_folder / "budget.sqlite"
    ledger = Ledger(file)
    ledger.register("survey", rho=1)
    file.chmod(file_mode)
    open_folder.chmod(folder_mode)

    def ask():
        shown = str(ledger.status("survey").left) if file_mode else "1"
        return shown, told(lambda: ledger.reserve("survey", rho="1/8"))

    shown, problem = in_a_fork(ask, unprivileged=True)
    assert shown == "1"
    assert f"{file} cannot be used: {expected}" in problem
    file.chmod(0o666)
    assert len(ledger.history("survey")) == 1


@pytest.mark.parametrize("spare", [0, 1, 512, 1000, 4096, 5000, 8192, 12_000, 16_384, 20_480, 40_000])
def test_a_full_disk_loses_no_release_and_forgets_no_spending(file_ledger, make_release, spare):
    """The file may grow by `spare` bytes, so that the disk is full at another point each time."""
    size, release = Path(file_ledger.place).stat().st_size, make_release("1/100")

    def work():
        done = []
        for _ in range(40):
            try:
                with file_ledger.reserve("survey", rho="1/100") as reservation:
                    reservation.reading()
                    done.append(["reserved", reservation.number])
                    reservation.commit(release)
                    done.append(["committed", reservation.number])
            except LedgerUnavailable as error:
                return [*done, [error.problem, error.release is release]]
        return done

    def with_a_full_disk():
        with files_no_larger_than(size + spare):
            return work()

    *done, (problem, has_release) = in_a_fork(with_a_full_disk)
    assert "full" in problem or "disk I/O error" in problem
    file_ledger.verify()
    status = file_ledger.status("survey")
    reserved = [number for kind, number in done if kind == "reserved"]
    committed = [number for kind, number in done if kind == "committed"]
    assert [one.number for one in status.reservations] == reserved
    assert [one.number for one in status.reservations if one.state == "committed"] == committed
    assert has_release is (len(reserved) > len(committed))
    assert status.spent == Fraction(len(reserved), 100)


def test_a_server_whose_disk_is_full_loses_no_release_and_forgets_no_spending(postgres_binaries, make_release):
    wide = make_release("1/1000", columns=3000)
    with running_server(postgres_binaries, largest_file=2 * 2**20) as url:
        ledger = Ledger(f"{url}/postgres")
        ledger.register("survey", rho=1)
        reserved, committed, caught = [], [], None
        while caught is None and len(reserved) < 300:
            try:
                reservation = ledger.reserve("survey", rho="1/1000")
                reservation.reading()
                reserved.append(reservation.number)
                reservation.commit(wide)
                committed.append(reservation.number)
            except LedgerUnavailable as error:
                caught = error
        assert "could not extend file" in caught.problem
        assert caught.release is wide
        assert len(reserved) == len(committed) + 1 > 4
        ledger.verify()
        status = ledger.status("survey")
        assert [one.number for one in status.reservations] == reserved
        assert [one.number for one in status.reservations if one.state == "committed"] == committed
        assert status.spent == Fraction(len(reserved), 1000)


def test_a_disk_without_space_is_told_in_plain_words(open_folder):
    """A file system of 200 KiB, where the system lets us have one."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here, so no small file system of our own")
    program = (
        "import subprocess, sys\n"
        "from plandp import Ledger, LedgerUnavailable\n"
        "if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', sys.argv[1]]).returncode:\n"
        "    sys.exit(77)\n"
        "ledger = Ledger(sys.argv[1] + '/budget.sqlite')\n"
        "ledger.register('survey', rho=1)\n"
        "done = 0\n"
        "try:\n"
        "    while True:\n"
        "        ledger.reserve('survey', rho='1/10000'); done += 1\n"
        "except LedgerUnavailable as error:\n"
        "    print(error)\n"
        "ledger.verify()\n"
        "assert done > 20 and len(ledger.status('survey').reservations) == done\n"
    )
    made = ["unshare", "--map-root-user", "--mount", sys.executable, "-c", program, str(open_folder)]
    ran = subprocess.run(made, capture_output=True, text=True, check=False)
    if ran.returncode in (1, 77) and "Traceback" not in ran.stderr:
        pytest.skip("this user may not mount a small file system")
    assert ran.returncode == 0, ran.stderr
    assert "cannot be used: database or disk is full; free some space" in ran.stdout


def test_a_ledger_that_others_hold_is_waited_for_and_then_given_up(file_ledger, release, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 0.3)
    monkeypatch.setattr(engines, "_GLANCE", 0.05)
    impatient = Ledger(file_ledger.place)
    reservation = impatient.reserve("survey", rho="1/8")
    reservation.reading()
    with closing(sqlite3.connect(file_ledger.place, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(LedgerUnavailable, match="database is locked; another process holds it"):
            impatient.reserve("survey", rho="1/8")
        with pytest.raises(LedgerUnavailable, match="database is locked"):
            impatient.status("survey")
        with pytest.raises(LedgerUnavailable) as caught:
            reservation.commit(release)
        assert caught.value.release is release
        other.execute("ROLLBACK")
    reservation.commit(release)
    assert impatient.status("survey").spent == Fraction(1, 8)


def test_a_slow_reader_does_not_fail_a_commit(file_ledger, release):
    """Readers hold a lock that a commit has to wait for."""
    with closing(sqlite3.connect(file_ledger.place, isolation_level=None, check_same_thread=False)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM plandp_entry").fetchall()
        ends = threading.Timer(0.7, lambda: reader.execute("COMMIT"))
        ends.start()
        file_ledger.reserve("survey", rho="1/8")
        ends.join()
    assert file_ledger.status("survey").spent == Fraction(1, 8)


def test_a_cancel_that_cannot_be_written_stays_spent_and_the_first_error_is_kept(file_ledger, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 0.2)
    impatient = Ledger(file_ledger.place)
    with closing(sqlite3.connect(file_ledger.place, isolation_level=None)) as other:

        def fail():
            with impatient.reserve("survey", rho="1/8"):
                other.execute("BEGIN EXCLUSIVE")
                raise ZeroDivisionError

        def leave():
            with impatient.reserve("survey", rho="1/8"):
                other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(ZeroDivisionError) as caught:
            fail()
        assert "stays spent (entry 2 of its history): nothing was read, but the ledger" in caught.value.__notes__[0]
        other.execute("ROLLBACK")
        with pytest.raises(LedgerUnavailable):
            leave()
        other.execute("ROLLBACK")
    assert file_ledger.status("survey").spent == Fraction(1, 4)


@pytest.mark.parametrize(
    "place",
    [":memory:", "", "  ", "sqlite://", "sqlite:///:memory:", "sqlite:///x?mode=memory", "mysql://a/b", "://", 7, None],
)
def test_places_that_cannot_keep_a_ledger_are_refused(place):
    with pytest.raises(ArgumentError, match=r"^ledger: must be the path of a file or a URL"):
        Ledger(place)


def test_reading_makes_no_ledger_of_a_misspelled_path(tmp_path):
    ledger = Ledger(tmp_path / "bugdet.sqlite")
    for ask in (ledger.datasets, ledger.verify, ledger.export, lambda: ledger.reserve("survey", rho=1)):
        with pytest.raises(ArgumentError, match=r"^ledger: there is none at .*bugdet.sqlite; register a dataset there"):
            ask()
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_a_ledger_is_told(place):
    if "://" not in place:
        sqlite3.connect(place).execute("CREATE TABLE mine (x)").connection.close()
    with pytest.raises(ArgumentError, match=r"^ledger: there is none at "):
        Ledger(place).datasets()
    Ledger(place).register("survey", rho=1)
    assert Ledger(place).status("survey").left == 1


@pytest.mark.parametrize("name", ["missing/budget.sqlite", "."])
def test_a_file_that_cannot_be_made_is_told(tmp_path, name):
    with pytest.raises(LedgerUnavailable, match="unable to open database file; the folder must exist"):
        Ledger(tmp_path / name).register("survey", rho=1)


def test_a_url_of_sqlite_is_its_file(tmp_path):
    Ledger(tmp_path / "budget.sqlite").register("survey", rho=1)
    assert Ledger(f"sqlite:///{tmp_path}/budget.sqlite").status("survey").left == 1


def test_names_of_files_are_taken_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ["a b?mode=memory&x#y%20.sqlite", "file:x", "ü.db"]
    ledgers = [Ledger(name) for name in names]
    monkeypatch.chdir("/")  # a ledger stays where it was
    for ledger in ledgers:
        ledger.register("survey", rho=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)


def test_a_server_that_is_not_there_is_told_without_the_password():
    ledger = Ledger("postgresql://someone:secret@127.0.0.1:1/none")
    with pytest.raises(LedgerUnavailable, match=r"someone:\*\*\*@127.0.0.1:1/none cannot be used: ") as caught:
        ledger.datasets()
    assert "secret" not in f"{caught.value!r} {caught.value.__context__!r} {ledger!r} {ledger.place}"


def test_a_lost_connection_leaves_nothing_half_done(new_database, release):
    place = new_database()
    ledger = Ledger(place)
    ledger.register("survey", rho=1)
    reservation = ledger.reserve("survey", rho="1/8")
    reservation.reading()

    def cut(*_):
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    sqlalchemy.event.listen(ledger._store._engine, "commit", cut)
    with pytest.raises(LedgerUnavailable) as caught:
        reservation.commit(release)
    assert caught.value.release is release
    with pytest.raises(LedgerUnavailable):
        ledger.reserve("survey", rho="1/8")
    sqlalchemy.event.remove(ledger._store._engine, "commit", cut)
    assert ledger.status("survey").spent == Fraction(1, 8)
    reservation.commit(release)
    assert ledger.release("survey", reservation.number).to_json() == release.to_json()
    ledger.verify()


def test_a_commit_whose_answer_was_lost_can_be_repeated(ledger, release):
    """The database has committed, and the connection breaks before it can say so."""
    reservation = ledger.reserve("survey", rho="1/8")
    reservation.reading()
    engine = ledger._store._engine

    def lose(connection):
        connection.connection.driver_connection.commit()
        raise sqlalchemy.exc.OperationalError("COMMIT", {}, Exception("server closed the connection unexpectedly"))

    sqlalchemy.event.listen(engine, "commit", lose)
    with pytest.raises(LedgerUnavailable, match="server closed the connection"):
        reservation.commit(release)
    with pytest.raises(LedgerUnavailable):
        ledger.reserve("survey", rho="1/8")  # spent, though nobody holds it: the safe side
    sqlalchemy.event.remove(engine, "commit", lose)
    reservation.commit(release)
    status = ledger.status("survey")
    assert (status.spent, status.count("committed")) == (Fraction(1, 4), 1)
    ledger.verify()


@pytest.mark.parametrize("replaced_by", [None, b"", b"something else entirely, and long enough to be looked at" * 20])
def test_a_file_that_was_removed_or_replaced_during_a_run_does_not_take_the_release_with_it(
    file_ledger, release, replaced_by
):
    file = Path(file_ledger.place)
    reservation = file_ledger.reserve("survey", rho="1/8")
    kept = file.read_bytes()
    file.unlink()
    if replaced_by is not None:
        file.write_bytes(replaced_by)
    with pytest.raises(LedgerUnavailable) as caught:
        reservation.commit(release)
    assert caught.value.release is release
    file.write_bytes(kept)
    reservation.commit(release)
    assert file_ledger.status("survey").count("committed") == 1
