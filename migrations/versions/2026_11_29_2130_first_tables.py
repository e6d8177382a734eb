"""First tables: accounts, library, notebooks, index, answers, ledger, jobs.

Revision: 0001.
"""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ACCOUNTS = """
create table users (
    id uuid primary key,
    email text not null unique,
    password_hash text,                      -- null: this account cannot sign in with a password
    is_admin boolean not null default false,
    pdf_capture text not null default 'auto',
    language text not null default '',
    credit numeric(18, 9) not null default 0 check (credit >= 0),      -- USD not yet spent
    reserved numeric(18, 9) not null default 0 check (reserved >= 0),  -- held by calls in flight
    created_at timestamptz not null
);
create table credit_grants (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    amount numeric(18, 9) not null,
    reason text not null,
    created_at timestamptz not null
);
create index on credit_grants (user_id);
create table sessions (
    token_hash bytea primary key,
    user_id uuid not null references users on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null
);
create index on sessions (user_id);
create table api_tokens (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    name text not null,
    token_hash bytea not null unique,
    created_at timestamptz not null
);
create index on api_tokens (user_id);
create table idempotency_keys (
    user_id uuid not null references users on delete cascade,
    key text not null,
    body_hash bytea not null,
    resource text not null,                  -- what the first request made
    created_at timestamptz not null,
    primary key (user_id, key)
);
"""

LIBRARY = """
create table notebooks (
    id uuid primary key,
    owner_id uuid not null references users on delete cascade,
    title text not null,
    language text not null default '',
    created_at timestamptz not null
);
create index on notebooks (owner_id, id);
create table sources (
    id uuid primary key,
    owner_id uuid not null references users on delete cascade,
    kind text not null,
    title text not null,
    name text not null,
    sha256 bytea not null,
    capture_mode text not null,
    media_type text not null,
    bytes bigint not null,
    status text not null check (status in ('queued', 'processing', 'ready', 'failed')),
    stage text,
    done integer not null default 0,
    total integer not null default 0,
    error text,
    error_code text,
    attempt integer not null default 0,      -- fences writes: only the newest attempt may write
    tries integer not null default 0,        -- attempts since it was last queued by a person
    version_id uuid,                         -- the version that questions read
    created_at timestamptz not null,
    updated_at timestamptz not null,
    unique (owner_id, sha256, capture_mode)
);
create index on sources (owner_id, id);
create index on sources (status) where status in ('queued', 'processing');
create table notebook_sources (
    notebook_id uuid not null references notebooks on delete cascade,
    source_id uuid not null references sources on delete cascade,
    added_at timestamptz not null,
    primary key (notebook_id, source_id)
);
create index on notebook_sources (source_id);
create table source_versions (               -- never changed: reading again makes another
    id uuid primary key,
    source_id uuid not null references sources on delete cascade,
    number integer not null,
    chunker text not null,
    analyser text not null,
    language text not null,
    pages integer,
    words integer not null,
    chunk_count integer not null,
    skipped jsonb not null,                  -- [[page, reason], ...]
    created_at timestamptz not null,
    unique (source_id, number)
);
alter table sources add foreign key (version_id) references source_versions;
create table passages (
    version_id uuid not null references source_versions on delete cascade,
    ordinal integer not null,
    page integer,
    language text not null,
    text text not null,
    primary key (version_id, ordinal)
);
create table chunks (
    id uuid primary key,
    version_id uuid not null references source_versions on delete cascade,
    ordinal integer not null,
    passage integer not null,
    page integer,
    start_at integer not null,               -- code points into the passage's text
    end_at integer not null,
    heading text not null,
    language text not null,
    text text not null,
    unique (version_id, ordinal)
);
"""

INDEX = """
create table embedding_sets (
    id smallint generated always as identity primary key,
    model text not null,
    dimension integer not null,
    chunker text not null,
    active boolean not null default false,
    created_at timestamptz not null,
    unique (model, dimension, chunker)
);
create unique index one_active_embedding_set on embedding_sets (active) where active;
-- Narrow and apart from the text: the exact scan of a search reads this table alone. PLAIN keeps
-- each vector in its row (up to 4,000 dimensions) instead of in a TOAST table.
create table chunk_vectors (
    version_id uuid not null references source_versions on delete cascade,
    ordinal integer not null,
    set_id smallint not null references embedding_sets,
    embedding halfvec not null
);
alter table chunk_vectors alter column embedding set storage plain;
create index on chunk_vectors (version_id);
-- The keyword side: an inverted index per source version, one row per term.
create table postings (
    version_id uuid not null references source_versions on delete cascade,
    term text not null,
    ordinals integer[] not null,             -- of the chunks that hold the term
    weights real[] not null,                 -- the term's saturated frequency in each
    primary key (version_id, term)
);
-- Vectors that were paid for by an attempt that did not finish; gone once the source is ready.
create table paid_embeddings (
    source_id uuid not null references sources on delete cascade,
    set_id smallint not null references embedding_sets,
    texts_hash bytea not null,
    vectors bytea not null,
    primary key (source_id, set_id, texts_hash)
);
"""

ANSWERS = """
create table answers (
    id uuid primary key,
    notebook_id uuid not null references notebooks on delete cascade,
    user_id uuid not null references users on delete cascade,
    question text not null,
    source_ids uuid[],                       -- null: all sources of the notebook
    about uuid,
    mode text not null check (mode in ('sources', 'general', 'extractive')),
    status text not null check (status in ('streaming', 'complete', 'stopped', 'failed')),
    refused boolean not null default false,
    text text not null default '',
    error jsonb,
    lease_until timestamptz not null,        -- of the run that is writing it
    stop_requested boolean not null default false,
    created_at timestamptz not null,
    finished_at timestamptz
);
create index on answers (notebook_id, id);
create index on answers (lease_until) where status = 'streaming';
-- Snapshots without a foreign key to chunks: true for ever of the version that was read.
create table answer_passages (
    answer_id uuid not null references answers on delete cascade,
    rank integer not null,                   -- from 1; also its number in the prompt
    chunk_id uuid not null,
    source_id uuid not null,
    version_id uuid not null,
    source_title text not null,
    passage integer not null,
    page integer,
    start_at integer not null,
    language text not null,
    text text not null,
    similarity real,
    score double precision not null,
    primary key (answer_id, rank)
);
create index on answer_passages (source_id);
create table citations (
    answer_id uuid not null references answers on delete cascade,
    marker integer not null,
    rank integer not null,
    mentions jsonb not null,
    primary key (answer_id, marker),
    foreign key (answer_id, rank) references answer_passages on delete cascade
);
create table answer_events (
    answer_id uuid not null references answers on delete cascade,
    id integer not null,
    event text not null,
    data jsonb not null,
    primary key (answer_id, id)
);
"""

LEDGER = """
create table model_calls (                   -- one row a call, kept when its subject is gone
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    kind text not null,
    model text not null,
    status text not null check (status in ('pending', 'served', 'cut', 'failed', 'unknown')),
    notebook_id uuid,
    source_id uuid,
    answer_id uuid,
    document_id uuid,
    input_tokens bigint not null,
    output_tokens bigint not null,
    seconds numeric(12, 3),
    characters bigint,
    estimated boolean not null,
    input_price numeric(18, 9) not null,     -- USD per million
    output_price numeric(18, 9) not null,
    reserved numeric(18, 9) not null,
    cost numeric(18, 9) not null,
    lease_until timestamptz not null,        -- past it, a pending call's process is dead
    created_at timestamptz not null,
    settled_at timestamptz
);
create index on model_calls (user_id, id);
create index on model_calls (answer_id) where answer_id is not null;
create index on model_calls (source_id) where status = 'pending';
create index on model_calls (lease_until) where status = 'pending';
"""

# SAQ's own tables at its schema version 3; made here so that SAQ never migrates by itself.
JOBS = """
create table saq_jobs (
    key text primary key,
    lock_key serial not null,
    job bytea not null,
    queue text not null,
    status text not null,
    priority smallint not null default 0,
    group_key text,
    scheduled bigint not null default extract(epoch from now()),
    expire_at bigint
);
create index saq_jobs_status_queue_group_key_idx on saq_jobs (status, queue, group_key);
create index saq_jobs_status_queue_priority_scheduled_idx
    on saq_jobs (status, queue, priority, scheduled);
create table saq_stats (
    worker_id text primary key,
    stats jsonb,
    expire_at bigint,
    metadata jsonb,
    queue_key text
);
create index saq_stats_expire_at_idx on saq_stats (expire_at);
create index saq_stats_queue_key_idx on saq_stats (queue_key);
create table saq_versions (version integer);
insert into saq_versions values (3);
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("create extension if not exists vector")
    for part in (ACCOUNTS, LIBRARY, INDEX, ANSWERS, LEDGER, JOBS):
        op.execute(part)


def downgrade() -> None:
    op.execute(
        "drop table saq_versions, saq_stats, saq_jobs, model_calls, answer_events, citations,"
        " answer_passages, answers, paid_embeddings, postings, chunk_vectors, embedding_sets,"
        " chunks, passages, notebook_sources, idempotency_keys, api_tokens, sessions,"
        " credit_grants, notebooks cascade"
    )
    op.execute("drop table sources, source_versions, users cascade")
