"""Delete a version's postings by a trigger: a foreign key looks every one up as it is written.

A version has thousands. They are written in the transaction that makes their version.

Revision: 0007, after 0006.
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_TRIGGER = """
create function delete_postings() returns trigger language plpgsql as $$
begin
    delete from postings where version_id = old.id;
    return null;
end $$;
create trigger delete_postings after delete on source_versions
    for each row execute function delete_postings();
"""
_KEY = """
alter table postings add constraint postings_version_id_fkey
    foreign key (version_id) references source_versions on delete cascade
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute(_TRIGGER)
    op.execute("alter table postings drop constraint postings_version_id_fkey")


def downgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute(_KEY)
    op.execute("drop trigger delete_postings on source_versions")
    op.execute("drop function delete_postings()")
