"""Keep transcripts that were paid for until their source is ready.

Revision: 0004, after 0003.
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute(
        "create table paid_transcripts ("
        " source_id uuid not null references sources on delete cascade,"
        " key text not null,"  # what was transcribed, by which model
        " text text not null,"
        " problem text not null,"  # why it is not whole; "" where it is
        " primary key (source_id, key))"
    )


def downgrade() -> None:
    op.execute("drop table paid_transcripts")
