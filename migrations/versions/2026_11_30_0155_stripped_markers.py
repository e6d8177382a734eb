"""Count the markers that were stripped from an answer.

Revision: 0017, after 0016.
"""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("alter table answers add column stripped_markers int not null default 0")


def downgrade() -> None:
    op.execute("alter table answers drop column stripped_markers")
