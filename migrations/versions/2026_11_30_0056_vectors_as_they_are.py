"""Keep paid vectors as they are: trying to compress them takes longer than writing them.

Revision: 0012, after 0011.
"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("alter table paid_embeddings alter column vectors set storage external")


def downgrade() -> None:
    op.execute("alter table paid_embeddings alter column vectors set storage extended")
