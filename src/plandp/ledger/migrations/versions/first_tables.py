"""The first tables: datasets, their chained entries, and the stored releases."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the three tables."""
    op.create_table(
        "plandp_dataset",
        sa.Column("dataset", sa.Text, primary_key=True),
        sa.Column("entries", sa.Integer, nullable=False),
        sa.Column("head", sa.Text, nullable=False),
    )
    op.create_table(
        "plandp_entry",
        sa.Column("dataset", sa.Text, sa.ForeignKey("plandp_dataset.dataset"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("reservation", sa.Integer),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.UniqueConstraint("dataset", "reservation", name="plandp_entry_one_outcome"),
    )
    op.create_table(
        "plandp_release",
        sa.Column("dataset", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("release", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["dataset", "number"], ["plandp_entry.dataset", "plandp_entry.number"]),
    )


def downgrade() -> None:
    """Refuse: a ledger without its tables has forgotten what was spent."""
    raise NotImplementedError("a ledger is never taken back")
