"""Count a notebook's questions of a day, so that clearing its chat gives none back.

Revision: 0002, after 0001.
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute(
        "alter table notebooks add column asked_on date,"
        " add column asked integer not null default 0"
    )
    op.execute(
        "update notebooks n set asked_on = a.day, asked = a.asked from ("
        " select notebook_id, max(cast(created_at at time zone 'UTC' as date)) as day,"
        " count(*) filter (where created_at >= date_trunc('day', now(), 'UTC')) as asked"
        " from answers group by notebook_id) a where a.notebook_id = n.id and a.asked > 0"
    )


def downgrade() -> None:
    op.execute("alter table notebooks drop column asked_on, drop column asked")
