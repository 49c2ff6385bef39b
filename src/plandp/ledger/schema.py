"""The tables of a ledger, as the newest migration leaves them."""

from sqlalchemy import Column, ForeignKey, ForeignKeyConstraint, Integer, MetaData, Table, Text, UniqueConstraint

VERSION = "1"  # the newest revision in migrations/versions
VERSION_TABLE = "plandp_ledger_version"

metadata = MetaData()

# One row per dataset: what a writer locks, and where its chain ends.
datasets = Table(
    "plandp_dataset",
    metadata,
    Column("dataset", Text, primary_key=True),
    Column("entries", Integer, nullable=False),
    Column("head", Text, nullable=False),
)

# `content` is the text that was hashed; `reservation` says which reserve entry an outcome belongs to: one at most.
entries = Table(
    "plandp_entry",
    metadata,
    Column("dataset", Text, ForeignKey("plandp_dataset.dataset"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("reservation", Integer),
    Column("content", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("dataset", "reservation", name="plandp_entry_one_outcome"),
)

# Releases lie beside the chain, which holds their hash: history stays small when releases are large.
releases = Table(
    "plandp_release",
    metadata,
    Column("dataset", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("release", Text, nullable=False),
    ForeignKeyConstraint(["dataset", "number"], ["plandp_entry.dataset", "plandp_entry.number"]),
)

# Written by Alembic; read here to see which version the tables have.
version = Table(VERSION_TABLE, MetaData(), Column("version_num", Text, primary_key=True))
