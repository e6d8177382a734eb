"""The composition root: the one place that names adapters.

Imports of what only some commands need stand inside the functions, so that each command loads
only what it runs.
"""
# ruff: noqa: PLC0415

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from domain.errors import Rejected

if TYPE_CHECKING:
    from adapters.embedded_postgres import EmbeddedPostgres
    from openai import AsyncOpenAI

    from app.services import Services
    from app.settings import Endpoint, Settings
    from domain.embedding_set import EmbeddingSet
    from domain.live import LiveAnswers
    from domain.chunking import TokenWindowChunker
    from domain.ports import BlobStore, ChatModel, Embedder, Listener
    from domain.stores import UnitOfWork


def embedded_postgres(
    folder: Path, *, settings: Mapping[str, str], log_file: Path
) -> "EmbeddedPostgres":
    """The database that `beleg up` runs itself, over that folder; not started yet."""
    from adapters.embedded_postgres import EmbeddedPostgres

    return EmbeddedPostgres(folder, settings=settings, log_file=log_file)


def running_database(folder: Path) -> str | None:
    """The URL of the database that a `beleg up` runs over that folder, None where none does."""
    from adapters.embedded_postgres import running_url

    return running_url(folder)


def tied_command(command: Sequence[str]) -> list[str]:
    """The command that runs `command` as a child which cannot outlive this process."""
    from adapters.child_processes import tied_command

    return tied_command(command)


def migrate(database_url: str) -> None:
    """Bring the database to the newest revision."""
    from adapters.postgres.migrate import upgrade

    upgrade(database_url)


@asynccontextmanager
async def services(settings: "Settings") -> AsyncIterator["Services"]:
    """Open every adapter, wire every use-case, close all of it at the end.

    Raises:
        Rejected: the settings do not fit each other or the database; the message says which.
    """
    from adapters.clock import SystemClock
    from adapters.extraction.reader import FileReader
    from adapters.passwords import Argon2Passwords
    from adapters.postgres.connection import open_engine
    from adapters.postgres.listener import PostgresListener
    from adapters.postgres.unit_of_work import PostgresUnitOfWork
    from adapters.prices import load_prices
    from app.services import Services
    from domain import channels
    from domain.live import LiveAnswers
    from domain.metering import MeteredEmbedder
    from domain.retrieval import RetrievalSettings
    from domain.usage import TokenUsage
    from domain.usecases.add_source import AddSource
    from domain.usecases.answer_question import AnswerQuestion, AnswerSettings
    from domain.usecases.ask_question import AskQuestion
    from domain.usecases.follow_answer import FollowAnswer
    from domain.usecases.ingest_source import IngestSettings, IngestSource
    from domain.usecases.manage_accounts import ManageAccounts
    from domain.usecases.manage_notebooks import ManageNotebooks
    from domain.usecases.manage_sources import ManageSources
    from domain.usecases.read_usage import ReadUsage
    from domain.usecases.reap import Reap
    from domain.usecases.search_notebook import SearchNotebook

    if not settings.database_url:
        raise Rejected("DATABASE_URL is not set. `beleg up` runs a database by itself.")
    async with AsyncExitStack() as stack:
        engine = open_engine(settings.database_url, pool_size=settings.database_pool_size)
        stack.push_async_callback(engine.dispose)
        uow = PostgresUnitOfWork(engine)
        listener = await stack.enter_async_context(
            PostgresListener(settings.database_url, channels.ALL)
        )
        clock = SystemClock()
        prices = load_prices(settings.prices_file)
        embedding_set, notices = await _embedding_set(settings, uow)
        embedder, default_floor = await _embedder(settings, embedding_set, stack)
        chat = await _chat(settings, stack)
        for model in (embedder.model, *([chat.model] if chat else [])):
            prices.of(model)
        metered = MeteredEmbedder(embedder, prices, uow, clock)
        reader = FileReader()
        stack.push_async_callback(reader.aclose)
        blobs = _blobs(settings.storage_url)
        floor = settings.similarity_floor
        retrieval = RetrievalSettings(
            mode=settings.retrieval_mode,
            k=settings.retrieval_k,
            candidates=settings.retrieval_candidates,
            rrf_k=settings.rrf_k,
            floor=floor if floor is not None else default_floor,
        )
        live = LiveAnswers()
        # What a prompt may hold at most: its passages, history and question, as bytes.
        prompt_bound = TokenUsage(30_000, settings.llm_max_output_tokens)
        yield Services(
            settings=settings,
            accounts=ManageAccounts(
                uow, Argon2Passwords(), settings.sign_up, settings.signup_credit
            ),
            notebooks=ManageNotebooks(uow),
            add_source=AddSource(
                uow,
                blobs,
                reader,
                clock,
                settings.max_file_bytes,
                settings.max_sources_per_notebook,
            ),
            sources=ManageSources(uow, blobs, reader),
            ingest_source=IngestSource(
                uow,
                blobs,
                reader,
                _chunker(embedding_set.chunker),
                metered,
                embedding_set,
                IngestSettings(max_words=settings.max_words_per_source),
            ),
            search=SearchNotebook(uow, metered, embedding_set, retrieval),
            ask=AskQuestion(
                uow,
                clock,
                metered,
                can_write=chat is not None,
                writing_cost=prices.of(chat.model).cost(prompt_bound) if chat else Decimal(0),
                max_questions_per_notebook_day=settings.max_questions_per_notebook_day,
            ),
            answer_question=AnswerQuestion(
                uow,
                clock,
                metered,
                embedding_set,
                chat,
                prices,
                AnswerSettings(
                    retrieval, settings.chat_history_messages, settings.llm_max_output_tokens
                ),
            ),
            answers=FollowAnswer(uow, live, listener),
            live=live,
            listener=listener,
            usage=ReadUsage(uow),
            reap=Reap(uow, clock),
            embedding_set=embedding_set,
            notices=notices,
            is_ready=uow.is_ready,
        )


async def _embedding_set(
    settings: "Settings", uow: "UnitOfWork"
) -> tuple["EmbeddingSet", tuple[str, ...]]:
    """The set in force. The configured one becomes it only where nothing would be lost."""
    from adapters.inference.local import LOCAL_DIMENSION, LOCAL_MODEL, LocalEmbedder
    from domain.chunking import TokenWindowChunker

    if settings.embedding:
        model, dimension = settings.embedding.model, settings.embedding_dimension
        tokens, overlap = 420, 50
    else:
        model, dimension = LOCAL_MODEL, LOCAL_DIMENSION
        tokens, overlap = LocalEmbedder.chunk_tokens, LocalEmbedder.chunk_overlap_tokens
    chunker = TokenWindowChunker(
        settings.chunk_tokens or tokens,
        overlap if settings.chunk_overlap_tokens is None else settings.chunk_overlap_tokens,
    )
    async with uow() as tx:
        active = await tx.index.active_set()
        if active and (active.model, active.dimension, active.chunker) == (
            *(model, dimension),
            chunker.name,
        ):
            return active, ()
        if active is None or await tx.index.is_empty(active.id):
            return await tx.index.activate(model, dimension, chunker.name), ()
    return active, (
        f"Sources here are embedded with {active.model} ({active.dimension} dimensions,"
        f" {active.chunker}); the settings name {model} ({dimension}, {chunker.name})."
        " The embedded one stays in use: questions and sources must share one set.",
    )


async def _embedder(
    settings: "Settings", active: "EmbeddingSet", stack: AsyncExitStack
) -> tuple["Embedder", float]:
    """The embedder of the active set, and its similarity floor."""
    from adapters.inference.local import LOCAL_MODEL, LocalEmbedder

    if active.model == LOCAL_MODEL:
        local = LocalEmbedder()
        stack.push_async_callback(local.aclose)
        return local, local.similarity_floor
    if settings.embedding is None:
        raise Rejected(
            f"The sources here are embedded with {active.model}, and no endpoint for it is set."
            " Set EMBEDDING_BASE_URL and EMBEDDING_API_KEY (or INFERENCE_…) as before."
        )
    from adapters.inference.embedder import OpenAIEmbedder

    client = await _client(settings.embedding, stack)
    return OpenAIEmbedder(client, active.model, active.dimension), 0.3


async def _chat(settings: "Settings", stack: AsyncExitStack) -> "ChatModel | None":
    if settings.chat is None:
        return None
    from adapters.inference.chat import ChatHabits, OpenAIChatModel

    client = await _client(settings.chat, stack)
    habits = ChatHabits(reasoning_effort=settings.llm_reasoning_effort)
    return OpenAIChatModel(client, settings.chat.model, habits)


async def _client(endpoint: "Endpoint", stack: AsyncExitStack) -> "AsyncOpenAI":
    from adapters.inference.openai_client import open_client

    client = open_client(endpoint.base_url, endpoint.api_key)
    stack.push_async_callback(client.close)
    return client


def _blobs(storage_url: str) -> "BlobStore":
    from adapters.blobs import DiskBlobStore

    url = urlsplit(storage_url)
    if url.scheme != "file" or url.netloc not in {"", "localhost"}:
        raise Rejected(f"STORAGE_URL is file:///folder, not {storage_url!r}.")
    return DiskBlobStore(Path(unquote(url.path)))


def _chunker(name: str) -> "TokenWindowChunker":
    """The chunker that an embedding set was made with, from its name."""
    from domain.chunking import TokenWindowChunker

    kind, _, numbers = name.rpartition("window-")
    if kind != "token-":
        raise Rejected(f"This version has no chunker {name!r}; a newer one made the sources here.")
    tokens, overlap = numbers.split("-")
    return TokenWindowChunker(int(tokens), int(overlap))
