"""Exports of accounts, accounts that are being deleted, limits of one person, an anonymous ledger.

Revision: 0014, after 0013.
"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

ACCOUNTS = """
alter table users add column deleting_at timestamptz;    -- being deleted, by a job
create table exports (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    status text not null check (status in ('queued', 'ready', 'failed')),
    tries integer not null default 0,
    bytes bigint,                            -- of the archive, once it is ready
    error text,
    created_at timestamptz not null,
    expires_at timestamptz not null          -- the archive goes then, and this row with it
);
create index on exports (user_id, id);
create index on exports (expires_at);
create table user_limits (                   -- in place of the setting of that name
    user_id uuid not null references users on delete cascade,
    name text not null,
    amount bigint not null check (amount >= 0),
    primary key (user_id, name)
);
"""

# What was paid stays in the sums when the account goes, but says no longer whose it was.
LEDGER = """
alter table model_calls alter column user_id drop not null,
    drop constraint model_calls_user_id_fkey,
    add foreign key (user_id) references users on delete set null;
"""
ONE_OWNER_AGAIN = """
delete from model_calls where user_id is null;
alter table model_calls alter column user_id set not null,
    drop constraint model_calls_user_id_fkey,
    add foreign key (user_id) references users on delete cascade;
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute(ACCOUNTS)
    op.execute(LEDGER)


def downgrade() -> None:
    op.execute(ONE_OWNER_AGAIN)
    op.execute("drop table user_limits, exports")
    op.execute("alter table users drop column deleting_at")
