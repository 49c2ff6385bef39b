"""Alembic runs this: every step happens in the one transaction that the store has opened."""

from alembic import context

from plandp.ledger.schema import VERSION_TABLE

if hasattr(context, "config"):  # Alembic runs it; it may also be imported like any other file, and then does nothing
    context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
    context.run_migrations()
