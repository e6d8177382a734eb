"""Share notebooks; say in one place who may see what.

Revision: 0005, after 0004.
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute(
        "create table notebook_shares ("
        " notebook_id uuid not null references notebooks on delete cascade,"
        " user_id uuid not null references users on delete cascade,"
        " role text not null check (role in ('ask', 'read')),"
        " asked_on date,"  # a guest's questions of a day: the owner's are counted at the notebook
        " asked integer not null default 0,"
        " created_at timestamptz not null,"
        " primary key (notebook_id, user_id))"
    )
    op.execute("create index on notebook_shares (user_id)")
    op.execute(
        "create view notebook_access as"
        " select id as notebook_id, owner_id as user_id, 'owner' as role from notebooks"
        " union all select notebook_id, user_id, role from notebook_shares"
    )
    op.execute(
        "create view source_access as"  # a guest may reach a source through several notebooks
        " select id as source_id, owner_id as user_id, 'owner' as role from sources"
        " union all select l.source_id, s.user_id, 'read'"
        " from notebook_shares s join notebook_sources l on l.notebook_id = s.notebook_id"
    )
    op.execute(
        "create view answer_access as"  # everybody has a chat of their own in a notebook
        " select a.id as answer_id, a.user_id, 'owner' as role from answers a"
        " join notebook_access n on n.notebook_id = a.notebook_id and n.user_id = a.user_id"
    )
    # Searches kept for their keys are looked through when a source is deleted, whoever asked.
    op.execute("create index on idempotency_keys (key) where resource like '[%'")


def downgrade() -> None:
    op.execute("drop index idempotency_keys_key_idx")
    op.execute("drop view answer_access, source_access, notebook_access")
    op.execute("drop table notebook_shares")
