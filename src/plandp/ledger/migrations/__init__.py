"""How the tables of a ledger came to be, step by step (Alembic)."""
