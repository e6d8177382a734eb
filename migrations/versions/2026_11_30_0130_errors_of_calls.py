"""Keep what a provider said where a call went wrong.

Revision: 0015, after 0014.
"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("alter table model_calls add column error text")
    op.execute("create index on model_calls (id) where status = 'unknown'")


def downgrade() -> None:
    op.execute("drop index model_calls_id_idx")
    op.execute("alter table model_calls drop column error")
