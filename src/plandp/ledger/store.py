"""One transaction at a time on the tables of a ledger, and every failure in plain words."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, inspect, select, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from plandp.errors import ArgumentError, LedgerUnavailable, PlandpError
from plandp.ledger.engines import WRITES, open_engine
from plandp.ledger.fork_gate import GATE
from plandp.ledger.place import Place
from plandp.ledger.schema import VERSION, VERSION_TABLE, version

_MIGRATIONS = Path(__file__).parent / "migrations"
_MIGRATION_LOCK = 0x706C616E6470  # any number that nobody else uses: "plandp"


class Store:
    """The database of a ledger; a connection lives as long as one transaction."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._engine = open_engine(place)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection that sees one moment of the ledger."""
        with self._told(), GATE:
            self._must_exist()
            with self._transaction() as connection:
                if self._known_version(connection) == VERSION:
                    yield connection
                    return
            with self._transaction(writes=True) as connection:
                self._upgrade(connection)
            with self._transaction() as connection:
                yield connection

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[Connection]:
        """Yield a connection whose changes are all made, durably, or not at all; only `create` makes new tables."""
        with self._told(), GATE:
            if not create:
                self._must_exist()
            with self._transaction(writes=True) as connection:
                if create or self._known_version(connection) != VERSION:
                    self._upgrade(connection)
                yield connection

    @contextmanager
    def _transaction(self, *, writes: bool = False) -> Iterator[Connection]:
        options: dict[str, Any] = {WRITES: writes}
        if not writes and self.place.file is None:
            options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._engine.connect().execution_options(**options) as connection, connection.begin():
            yield connection

    def _must_exist(self) -> None:
        # SQLite would make an empty file of a misspelled path.
        if self.place.file is not None and not self.place.file.exists():
            raise self._no_ledger()

    def _no_ledger(self) -> ArgumentError:
        return ArgumentError(
            "ledger",
            f"there is none at {self.place.shown}; register a dataset there: "
            "Ledger(...).register(...), or: plandp ledger create",
        )

    def _known_version(self, connection: Connection) -> str:
        found = self._version(connection)
        if found is None:
            raise self._no_ledger()
        return found

    def _version(self, connection: Connection) -> str | None:
        if not inspect(connection).has_table(VERSION_TABLE):
            return None
        return connection.execute(select(version.c.version_num)).scalar_one_or_none()

    def _upgrade(self, connection: Connection) -> None:
        """Bring the tables to the newest version, inside the transaction of `connection`."""
        if connection.dialect.name == "postgresql":  # SQLite's writers are alone already
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        found = self._version(connection)
        if found == VERSION:
            return
        # Here, since Alembic is needed once in the life of a ledger.
        from alembic import command
        from alembic.config import Config
        from alembic.script import ScriptDirectory

        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        known = {step.revision for step in ScriptDirectory.from_config(config).walk_revisions()}
        if found is not None and found not in known:
            raise ArgumentError(
                "ledger",
                f"{self.place.shown} has tables of version {found}, which this plandp does not know; "
                "use the newer plandp that wrote it",
            )
        command.upgrade(config, "head")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            failure = self._failure(str(error.orig))
        except (SQLAlchemyError, OverflowError, OSError, UnicodeError) as error:
            failure = LedgerUnavailable(f"the ledger {self.place.shown} cannot be used ({type(error).__name__})")
        else:
            return
        raise failure  # outside, so that the error carries neither statement nor values as its context

    def _failure(self, told: str) -> PlandpError:
        first = next(iter(told.splitlines()), "no reason given").strip()
        if self.place.file is not None:
            if "not a database" in first:
                return ArgumentError("ledger", f"{self.place.shown} is not a ledger, nor any SQLite database")
            for sign, advice in _ADVICE.items():
                if sign in first:
                    first = f"{first}; {advice}"
        return LedgerUnavailable(f"the ledger {self.place.shown} cannot be used: {first}")


_ADVICE = {
    "readonly": "make the file and its folder writable for this user",
    "unable to open": "the folder must exist, and it and the file must be writable for this user",
    "full": "free some space",
    "disk I/O error": "is there space left, and is the disk in order?",
    "locked": "another process holds it; try again, and see whether that process hangs",
    "malformed": "the file is damaged; restore a backup, and reserve from it what was spent since",
}
