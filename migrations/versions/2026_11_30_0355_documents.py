"""Documents: what is made from sources, and what was paid for on the way.

Revision: 0020, after 0019.
"""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

DOCUMENTS = """
create table documents (
    id uuid primary key,
    notebook_id uuid not null references notebooks on delete cascade,
    owner_id uuid not null references users on delete cascade,
    kind text not null,
    title text not null,                     -- "" until somebody or the model gives one
    is_titled boolean not null,              -- by a person: nothing replaces it
    focus text not null,
    language text not null,
    voices text[] not null,
    source_ids uuid[] not null,              -- as they were chosen, deleted ones among them
    status text not null check (status in ('queued', 'processing', 'ready', 'failed')),
    stage text,
    done integer not null default 0,
    total integer not null default 0,
    error text,
    error_code text,
    attempt integer not null default 0,      -- fences writes: only the newest attempt may write
    tries integer not null default 0,        -- attempts since it was last queued by a person
    text text,                               -- with its markers
    seconds numeric(12, 3),
    bytes bigint,                            -- of its file, once it is ready
    source_id uuid references sources on delete cascade,  -- as which it is asked about
    created_at timestamptz not null,
    updated_at timestamptz not null
);
create index on documents (notebook_id, id);
create index on documents (owner_id);
create index on documents (source_id) where source_id is not null;
create index on documents (updated_at) where status in ('queued', 'processing');
create table document_citations (            -- snapshots, as those of answers
    document_id uuid not null references documents on delete cascade,
    marker integer not null,
    source_id uuid not null,
    data jsonb not null,
    primary key (document_id, marker)
);
create index on document_citations (source_id);
create table documents_of_day (              -- made by a person on one day, deleted ones included
    user_id uuid not null references users on delete cascade,
    kind text not null,
    day date not null,
    made integer not null,
    primary key (user_id, kind)
);
"""

# What attempts paid for, until the document is ready or gone.
PAID = """
create table paid_drafts (
    document_id uuid not null references documents on delete cascade,
    number integer not null,
    text text not null,
    primary key (document_id, number)
);
create table paid_speech (
    document_id uuid not null references documents on delete cascade,
    text_hash bytea not null,                -- of what is read, by which model and voices
    audio bytea not null,
    primary key (document_id, text_hash)
);
alter table paid_speech alter column audio set storage external;  -- it does not get smaller
create index on model_calls (document_id) where document_id is not null;
"""

ACCESS = """
create view document_access as
    select d.id as document_id, a.user_id, a.role
    from documents d join notebook_access a on a.notebook_id = d.notebook_id;
create table server_secrets (                -- each made when it is first needed
    name text primary key,
    secret text not null
);
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    for part in (DOCUMENTS, PAID, ACCESS):
        op.execute(part)


def downgrade() -> None:
    op.execute("drop table server_secrets")
    op.execute("drop view document_access")
    op.execute("drop index model_calls_document_id_idx")
    op.execute(
        "drop table paid_speech, paid_drafts, documents_of_day, document_citations, documents"
    )
