"""Index what deletes look for: the source of a version that goes, keys that are old.

Revision: 0003, after 0002.
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("create index on sources (version_id)")
    op.execute("create index on idempotency_keys (created_at)")


def downgrade() -> None:
    op.execute("drop index sources_version_id_idx, idempotency_keys_created_at_idx")
