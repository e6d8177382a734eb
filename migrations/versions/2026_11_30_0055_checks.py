"""Checks of answers, what people think of answers, and questions to begin with.

Revision: 0011, after 0010.
"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

FEEDBACK = """
create table answer_feedback (
    answer_id uuid not null references answers on delete cascade,
    user_id uuid not null references users on delete cascade,
    rating text check (rating in ('up', 'down')),
    comment text not null default '',
    updated_at timestamptz not null default now(),
    primary key (answer_id, user_id)
);
"""
SUGGESTIONS = """
create table suggested_questions (           -- what a model suggested; at most one call a state
    notebook_id uuid not null references notebooks on delete cascade,
    state text not null,                     -- of the notebook's ready sources
    language text not null,
    questions jsonb,                         -- null: asked for, and not there yet
    primary key (notebook_id, language)
);
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '5s'")
    op.execute("alter table answers add column checks jsonb not null default '[]'")
    op.execute(FEEDBACK)
    op.execute("create index on answer_feedback (user_id)")
    op.execute(SUGGESTIONS)


def downgrade() -> None:
    op.execute("drop table suggested_questions, answer_feedback")
    op.execute("alter table answers drop column checks")
