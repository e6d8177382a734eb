"""An export is made of parts, each kept and recorded by itself.

Revision: 0019, after 0018.
"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

PARTS = """
alter table exports add column attempt integer not null default 0;  -- fences earlier runs
create table export_parts (
    export_id uuid not null references exports on delete cascade,
    number integer not null,                 -- joined in this order they are the archive
    name text not null,                      -- what is in it
    key text not null,                       -- where the storage keeps it
    bytes bigint not null,
    directory bytea not null,                -- of its files, for the archive's end
    counts json not null,                    -- of what is in it, for the manifest
    primary key (export_id, number),
    unique (export_id, name)
);
"""

# Those that are there have one part.
WHOLE = """
insert into export_parts (export_id, number, name, key, bytes, directory, counts)
select id, 0, 'archive', user_id || '/export-' || id || '.zip', bytes, '', '{}'
from exports where status = 'ready'
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute(PARTS)
    op.execute(WHOLE)


def downgrade() -> None:
    op.execute("delete from exports")  # whose files no earlier version would find
    op.execute("drop table export_parts")
    op.execute("alter table exports drop column attempt")
