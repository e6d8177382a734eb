"""Tell passages that were read off pictures; keep a PDF's password, sealed, for one run.

Revision: 0009, after 0008.
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("alter table passages add column is_transcript boolean not null default false")
    op.execute(
        "create table sealed_passwords ("  # gone once the source is ready or has failed
        " source_id uuid primary key references sources on delete cascade,"
        " sealed bytea not null)"
    )


def downgrade() -> None:
    op.execute("drop table sealed_passwords")
    op.execute("alter table passages drop column is_transcript")
