"""How the databases are opened, and how their tables come to be and grow."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

import plandp.ledger.schema
import plandp.ledger.store
from plandp import ArgumentError, Ledger, MissingExtra

MIGRATIONS = Path(plandp.ledger.store.__file__).parent / "migrations"


def test_the_migrations_lead_to_the_tables_that_the_code_uses(ledger):
    scripts = ScriptDirectory(str(MIGRATIONS))
    assert scripts.get_current_head() == plandp.ledger.schema.VERSION
    with ledger._store.reading() as connection:
        options = {"version_table": plandp.ledger.schema.VERSION_TABLE, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, plandp.ledger.schema.metadata) == []


@pytest.fixture
def next_version(tmp_path, monkeypatch):
    """A plandp to come, whose tables have one column more."""
    folder = tmp_path / "migrations 100%"
    (folder / "versions").mkdir(parents=True)
    for name in ("env.py", "versions/first_tables.py"):
        (folder / name).write_text((MIGRATIONS / name).read_text())
    (folder / "versions" / "second.py").write_text(
        "import sqlalchemy as sa\n"
        "from alembic import op\n"
        "revision, down_revision = '2', '1'\n"
        "def upgrade():\n"
        "    op.add_column('plandp_dataset', sa.Column('note', sa.Text))\n"
    )

    def become():
        monkeypatch.setattr(plandp.ledger.store, "_MIGRATIONS", folder)
        monkeypatch.setattr(plandp.ledger.store, "VERSION", "2")

    return become


@pytest.mark.parametrize("first", ["status", "reserve", "register"])
def test_an_older_ledger_is_brought_up_to_date_with_all_it_knows(ledger, release, next_version, first, monkeypatch):
    with ledger.reserve("survey", rho="1/8") as reservation:
        reservation.reading()
        reservation.commit(release)
    before = ledger.export()
    next_version()
    if first == "status":
        ledger.status("survey")
    elif first == "reserve":
        with ledger.reserve("survey", rho="1/8"):
            pass
    else:
        ledger.register("other", rho=1)
    with ledger._store.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(note) FROM plandp_dataset").scalar() == 0
    if first == "status":
        assert ledger.export() == before
    ledger.verify()
    # And the plandp of today says that it is too old for it.
    monkeypatch.undo()
    for ask in (ledger.verify, lambda: ledger.reserve("survey", rho="1/8"), lambda: ledger.register("third", rho=1)):
        with pytest.raises(ArgumentError, match=r"has tables of version 2, which this plandp does not know"):
            ask()


def test_a_migration_that_breaks_off_changes_nothing(ledger, next_version, tmp_path):
    next_version()
    second = tmp_path / "migrations 100%" / "versions" / "second.py"
    whole = second.read_text()
    second.write_text(whole + "    raise ZeroDivisionError\n")
    with pytest.raises(ZeroDivisionError):
        ledger.status("survey")
    second.write_text(whole)
    assert ledger.status("survey").left == 1


def test_a_ledger_is_never_taken_back(ledger):
    from alembic import command

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with ledger._store.writing() as connection:
        config.attributes["connection"] = connection
        with pytest.raises(NotImplementedError):
            command.downgrade(config, "base")
    assert ledger.status("survey").left == 1


def test_sqlite_is_opened_so_that_a_commit_outlives_a_power_cut(file_ledger):
    with file_ledger._store.writing() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "trusted_schema", "busy_timeout")
        }
        assert found == {
            "journal_mode": "delete",
            "synchronous": 3,
            "foreign_keys": 1,
            "trusted_schema": 0,
            "busy_timeout": 60_000,
        }


def test_a_writer_is_alone_from_its_first_statement(file_ledger):
    with (
        file_ledger._store.writing(),
        closing(sqlite3.connect(file_ledger.place, timeout=0, isolation_level=None)) as other,
    ):
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        assert other.execute("SELECT count(*) FROM plandp_entry").fetchone() == (1,)  # readers may go on


def test_a_reader_sees_one_moment(ledger, place):
    with ledger._store.reading() as connection:
        count = "SELECT count(*) FROM plandp_dataset"
        assert connection.exec_driver_sql(count).scalar() == 1
        if "://" in place:
            Ledger(place).register("other", rho=1)
        assert connection.exec_driver_sql(count).scalar() == 1


def test_a_write_ahead_log_is_given_up(file_ledger, tmp_path):
    with closing(sqlite3.connect(file_ledger.place)) as connection:
        assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    file_ledger.reserve("survey", rho="1/8")
    assert [path.name for path in tmp_path.iterdir()] == ["budget.sqlite"]


def test_a_server_with_careless_defaults_is_made_careful(new_database):
    place = new_database()
    name = place.rpartition("/")[2]
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
        connection.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'")
    ledger = Ledger(place)
    ledger.register("survey", rho=1)
    with ledger._store.writing() as connection:
        found = [
            connection.exec_driver_sql(f"SHOW {setting}").scalar()
            for setting in ("synchronous_commit", "transaction_isolation", "lock_timeout")
        ]
    assert found == ["on", "read committed", "1min"]


def test_foreign_keys_and_single_outcomes_are_kept_by_the_database_too(ledger):
    import sqlalchemy as sa

    for statement in (
        "INSERT INTO plandp_entry VALUES ('nobody', 1, NULL, '', '')",
        "INSERT INTO plandp_release VALUES ('survey', 9, '')",
        "INSERT INTO plandp_entry VALUES ('survey', 1, NULL, '', '')",
        "INSERT INTO plandp_entry VALUES ('survey', 8, 2, '', ''), ('survey', 9, 2, '', '')",
    ):
        with pytest.raises(sa.exc.IntegrityError), ledger._store._engine.begin() as connection:
            connection.exec_driver_sql(statement)


def test_without_its_packages_a_ledger_says_what_to_install(monkeypatch):
    with monkeypatch.context() as without:
        for name in [name for name in sys.modules if name.startswith(("plandp.ledger.place", "plandp.ledger.store"))]:
            without.delitem(sys.modules, name)
        without.setitem(sys.modules, "sqlalchemy", None)
        with pytest.raises(MissingExtra, match=r"a ledger needs the package sqlalchemy; .*plandp\[ledger\]"):
            Ledger("budget.sqlite")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"a ledger in PostgreSQL needs the package psycopg; .*plandp\[postgres\]"):
        Ledger("postgresql://host/database")


def test_importing_plandp_loads_no_database_library():
    program = "import sys, plandp\nsys.exit(bool({'sqlalchemy', 'alembic', 'psycopg', 'sqlite3'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_plandp_names_its_ledger():
    assert plandp.Ledger is Ledger
    with pytest.raises(AttributeError, match="no attribute 'Legder'"):
        plandp.Legder  # noqa: B018
