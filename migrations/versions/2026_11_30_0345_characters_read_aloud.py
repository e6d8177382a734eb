"""Keep what a million characters read aloud cost.

Revision: 0018, after 0017.
"""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute(
        "alter table model_calls add column character_price numeric(18, 9) not null default 0"
    )


def downgrade() -> None:
    op.execute("alter table model_calls drop column character_price")
