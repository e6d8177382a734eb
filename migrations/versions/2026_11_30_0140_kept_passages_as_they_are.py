"""Keep the passages of answers as they are: compressing them takes longer than writing them.

Revision: 0016, after 0015.
"""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("alter table answer_passages alter text set storage external")


def downgrade() -> None:
    op.execute("alter table answer_passages alter text set storage extended")
