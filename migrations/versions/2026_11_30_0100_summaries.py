"""Summaries of sources.

Revision: 0013, after 0012.
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute(
        "create table source_summaries ("
        " version_id uuid primary key references source_versions on delete cascade,"
        " tries integer not null,"
        " kind text check (kind in ('written', 'quoted', 'none')),"  # null: not made yet
        " text text not null default '')"
    )


def downgrade() -> None:
    op.execute("drop table source_summaries")
