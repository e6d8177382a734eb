"""Sessions that can be listed, tokens with scopes, invitations, links for a new password, an audit log.

Revision: 0008, after 0007.
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

ACCOUNTS = """
alter table users
    add column disabled_at timestamptz,      -- may not sign in since then
    add column issuer_subject text unique;   -- who it is to the OpenID provider
alter table sessions
    add column id uuid not null unique default gen_random_uuid(),
    add column user_agent text not null default '',
    add column last_used_at timestamptz;
alter table api_tokens
    add column scopes text[] not null default '{read,ask,write,admin}',
    add column expires_at timestamptz,
    add column last_used_at timestamptz;
create table invitations (
    id uuid primary key,
    token_hash bytea not null unique,
    created_by uuid references users on delete cascade,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    used_at timestamptz,
    used_by uuid references users on delete set null
);
create table password_resets (
    token_hash bytea primary key,
    user_id uuid not null references users on delete cascade,
    expires_at timestamptz not null
);
create index on password_resets (user_id);
"""

AUDIT = """
create table audit_log (
    id uuid primary key,
    at timestamptz not null,
    act text not null,
    actor_id uuid references users on delete set null,
    subject_id uuid references users on delete set null,
    peer text not null,
    detail jsonb not null                    -- ids and words of ours, nothing about a person
);
create index on audit_log (actor_id);
create index on audit_log (subject_id);
"""

# Nobody changes what was written; but a deleted account takes what is personal with it.
APPEND_ONLY = """
create function audit_log_is_append_only() returns trigger language plpgsql as $$
begin
    if tg_op = 'UPDATE'
        and (new.id, new.at, new.act, new.detail) = (old.id, old.at, old.act, old.detail)
        and (new.actor_id is null or new.actor_id = old.actor_id)
        and (new.subject_id is null or new.subject_id = old.subject_id)
    then
        new.peer := '';
        return new;
    end if;
    raise exception 'audit_log is append-only';
end
$$;
create trigger audit_log_rows before update or delete on audit_log
    for each row execute function audit_log_is_append_only();
create trigger audit_log_table before truncate on audit_log
    for each statement execute function audit_log_is_append_only();
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    for part in (ACCOUNTS, AUDIT, APPEND_ONLY):
        op.execute(part)


def downgrade() -> None:
    op.execute("drop table audit_log, password_resets, invitations")
    op.execute("drop function audit_log_is_append_only")
    op.execute(
        "alter table api_tokens drop column scopes, drop column expires_at,"
        " drop column last_used_at"
    )
    op.execute(
        "alter table sessions drop column id, drop column user_agent, drop column last_used_at"
    )
    op.execute("alter table users drop column disabled_at, drop column issuer_subject")
