"""Keep what a minute of sound cost.

Revision: 0006, after 0005.
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("alter table model_calls add column minute_price numeric(18, 9) not null default 0")


def downgrade() -> None:
    op.execute("alter table model_calls drop column minute_price")
