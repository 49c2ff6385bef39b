"""Where a ledger is kept: the path of an SQLite file, or the URL of a PostgreSQL database."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError as NotAUrl

from plandp.errors import ArgumentError

_ALLOWED = "must be the path of a file or a URL such as postgresql://user@host/database"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A file or a server; `shown` names it without a password."""

    url: URL = field(repr=False)
    file: Path | None
    shown: str


def read_place(given: object) -> Place:
    """Return the place that was given; nothing is opened."""
    if isinstance(given, os.PathLike):
        given = given.__fspath__()
    elif isinstance(given, str) and "://" in given:
        return _read_url(given)
    if not isinstance(given, str) or "\0" in given or not given.strip():
        raise ArgumentError("ledger", _ALLOWED)
    if given.startswith(":"):
        raise ArgumentError("ledger", f"{_ALLOWED}; one in memory would forget what was spent")
    file = Path(os.path.abspath(given))  # a later change of the working directory must not mean another ledger
    return Place(url=URL.create("sqlite", database=str(file)), file=file, shown=str(file))


def _read_url(given: str) -> Place:
    try:
        url = make_url(given)
        backend = url.get_backend_name()
    except (NotAUrl, ValueError):
        raise ArgumentError("ledger", _ALLOWED) from None
    if backend == "sqlite" and not url.query:
        return read_place(Path(url.database or ":memory:"))
    if backend not in ("postgresql", "postgres"):
        raise ArgumentError("ledger", f"{_ALLOWED}; other databases are not supported")
    url = url.set(drivername="postgresql+psycopg")
    shown = url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
    return Place(url=url, file=None, shown=shown)
