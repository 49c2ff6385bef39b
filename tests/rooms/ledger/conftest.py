"""Ledgers on SQLite and on PostgreSQL, and a release for them to keep."""

import itertools
import json

import numpy as np
import psycopg
import pytest
from postgres_server import ABSENT, find_binaries, running_server

import plandp
from plandp import Ledger, MeanRelease

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_binaries():
    """Where the programs of PostgreSQL are."""
    binaries = find_binaries()
    if binaries is None:
        pytest.skip(ABSENT)
    return binaries


@pytest.fixture(scope="session")
def postgres(postgres_binaries):
    """The URL of a real server."""
    with running_server(postgres_binaries) as url:
        yield url


@pytest.fixture(scope="session")
def new_database(postgres):
    """Return a function that makes an empty database on the server and returns its URL."""

    def make():
        name = f"ledger_{next(_numbers)}"
        with psycopg.connect(f"{postgres}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"{postgres}/{name}"

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a new ledger can be kept: a file, and a database on a server."""
    if request.param == "sqlite":
        return str(tmp_path / "budget.sqlite")
    return request.getfixturevalue("new_database")()


@pytest.fixture
def ledger(place):
    """A ledger with one dataset, "survey", of ρ = 1 for rows."""
    made = Ledger(place)
    made.register("survey", rho=1)
    return made


@pytest.fixture
def file_ledger(tmp_path):
    """The same in an SQLite file."""
    made = Ledger(tmp_path / "budget.sqlite")
    made.register("survey", rho=1)
    return made


@pytest.fixture(scope="session")
def make_release():
    """Return a function that makes a release of plandp.mean, of 20 rows, for some ρ; the same numbers every time."""

    def make(rho="1/8", *, columns=2, insecure=False, **receipt):
        made = plandp.mean(np.zeros((20, columns)), bounds=(0, 1), rho=rho, testing_seed=1)
        values = json.loads(made.to_json())
        values["receipt"] |= {"insecure": insecure} | receipt
        return MeanRelease.from_json(json.dumps(values))

    return make


@pytest.fixture(scope="session")
def release(make_release):
    """A release of ρ = 1/8."""
    return make_release()
