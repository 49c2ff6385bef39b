"""How SQLite and PostgreSQL are opened so that what is committed lasts, and writers wait for each other."""

import time
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from plandp.errors import MissingExtra
from plandp.ledger.place import Place

PATIENCE = 60.0  # seconds that a writer waits for others
_GLANCE = 0.2  # seconds: SQLite waits in C, where Ctrl-C is not heard
WRITES = "plandp_writes"  # the execution option of transactions that write

# A rollback journal, not a write-ahead log: the log needs shared memory, which network file systems do not have, and is
# a second file without which a copy of the ledger would have forgotten what was spent last.  With this journal only
# EXTRA makes a commit outlive a power cut: the folder is written out too when the journal is removed.
_SQLITE_SETTINGS = (
    "PRAGMA journal_mode = DELETE",
    "PRAGMA synchronous = EXTRA",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
)
# Local to the transaction, so that they also hold behind a connection pooler.
_POSTGRESQL_SETTINGS = (
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'",
    f"SET LOCAL lock_timeout = '{PATIENCE:.0f}s'",
    f"SET LOCAL idle_in_transaction_session_timeout = '{PATIENCE:.0f}s'",
)


def open_engine(place: Place) -> Engine:
    """Return an engine that makes a new connection for each transaction: none is ever shared by threads or forks."""
    if place.file is not None:
        engine = create_engine(place.url, poolclass=NullPool, connect_args={"timeout": PATIENCE})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise MissingExtra("psycopg", "postgres", "a ledger in PostgreSQL") from None
    # A server that is out of reach is noticed; what the URL itself asks for comes first.
    patience = {"connect_timeout": 15, "tcp_user_timeout": round(1000 * PATIENCE)}
    asked = {name: value for name, value in patience.items() if name not in place.url.query}
    # Read committed whatever the server's default: after waiting for the lock, the newest entries must be seen.
    engine = create_engine(place.url, poolclass=NullPool, isolation_level="READ COMMITTED", connect_args=asked)
    event.listen(engine, "begin", _begin_postgresql)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # Python's own BEGIN would come late, and not be IMMEDIATE
    for setting in _SQLITE_SETTINGS:
        connection.execute(setting).fetchall()


def _begin_sqlite(connection: Connection) -> None:
    if not connection.get_execution_options().get(WRITES, False):
        connection.exec_driver_sql("BEGIN")
        return
    deadline = time.monotonic() + PATIENCE
    _wait_at_most(connection, _GLANCE)
    while True:
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            break
        except OperationalError as error:
            if "locked" not in str(error.orig) or time.monotonic() > deadline:
                raise
    _wait_at_most(connection, PATIENCE)  # the commit waits for readers


def _wait_at_most(connection: Connection, seconds: float) -> None:
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {round(1000 * seconds)}")


def _begin_postgresql(connection: Connection) -> None:
    if connection.get_execution_options().get(WRITES, False):
        for setting in _POSTGRESQL_SETTINGS:
            connection.exec_driver_sql(setting)
