"""Alembic runs this: every step happens in the one transaction that the store has opened."""

from alembic import context

from plandp.ledger.schema import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
context.run_migrations()
