"""What web and workers call: every use-case, wired."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from app.settings import Settings
from domain.embedding_set import EmbeddingSet
from domain.live import LiveAnswers
from domain.ports import Listener
from domain.usecases.add_source import AddSource
from domain.usecases.answer_question import AnswerQuestion
from domain.usecases.ask_question import AskQuestion
from domain.usecases.follow_answer import FollowAnswer
from domain.usecases.ingest_source import IngestSource
from domain.usecases.manage_accounts import ManageAccounts
from domain.usecases.manage_notebooks import ManageNotebooks
from domain.usecases.manage_sources import ManageSources
from domain.usecases.read_usage import ReadUsage
from domain.usecases.reap import Reap
from domain.usecases.search_notebook import SearchNotebook


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that web and workers call."""

    settings: Settings
    accounts: ManageAccounts
    notebooks: ManageNotebooks
    add_source: AddSource
    sources: ManageSources
    ingest_source: IngestSource
    search: SearchNotebook
    ask: AskQuestion
    answer_question: AnswerQuestion
    answers: FollowAnswer
    live: LiveAnswers
    listener: Listener
    usage: ReadUsage
    reap: Reap
    embedding_set: EmbeddingSet
    notices: tuple[str, ...]
    """What an operator should know, one sentence each."""
    is_ready: Callable[[], Awaitable[bool]]
    """True once the database answers."""
