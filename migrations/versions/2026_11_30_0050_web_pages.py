"""Web pages as sources: known by their address, fetched again without losing the last good text.

Revision: 0010, after 0009.
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    # A file is known by its bytes, a web page by its address: its bytes change.
    op.execute("alter table sources add column url text")
    op.execute("alter table sources drop constraint sources_owner_id_sha256_capture_mode_key")
    op.execute(
        "create unique index one_source_a_file on sources (owner_id, sha256, capture_mode)"
        " where url is null"
    )
    op.execute(
        "create unique index one_source_a_page on sources (owner_id, url, capture_mode)"
        " where url is not null"
    )
    op.execute("create index on sources (owner_id, sha256) where url is not null")
    op.execute(
        "create table fetches ("  # what an address gave, until the source is ready with it
        " source_id uuid primary key references sources on delete cascade,"
        " kind text not null,"
        " sha256 bytea not null,"
        " media_type text not null,"
        " bytes bigint not null)"
    )
    op.execute("create index on fetches (sha256)")
    # What a page is called: a sheet, a slide, a chapter.
    op.execute("alter table passages add column label text not null default ''")


def downgrade() -> None:
    op.execute("alter table passages drop column label")
    op.execute("drop table fetches")
    op.execute("delete from sources where url is not null")
    op.execute("drop index one_source_a_file")
    op.execute("alter table sources drop column url")
    op.execute("alter table sources add unique (owner_id, sha256, capture_mode)")
