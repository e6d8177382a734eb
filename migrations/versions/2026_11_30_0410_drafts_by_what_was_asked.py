"""Know a paid draft by what was asked for: other sources make another question.

Revision: 0021, after 0020.
"""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("drop table paid_drafts")
    op.execute(
        "create table paid_drafts ("
        " document_id uuid not null references documents on delete cascade,"
        " asked_hash bytea not null,"  # of the messages that the model was sent
        " text text not null,"
        " primary key (document_id, asked_hash))"
    )


def downgrade() -> None:
    op.execute("drop table paid_drafts")
    op.execute(
        "create table paid_drafts ("
        " document_id uuid not null references documents on delete cascade,"
        " number integer not null, text text not null, primary key (document_id, number))"
    )
