"""The composition root: the one place that names adapters.

Imports of what only some commands need stand inside the functions, so that each command loads
only what it runs.
"""
# ruff: noqa: PLC0415

import gc
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from domain.errors import Rejected

if TYPE_CHECKING:
    from decimal import Decimal

    from adapters.embedded_postgres import EmbeddedPostgres
    from adapters.extraction.sound_process import SoundProcesses
    from adapters.inference.openai_client import Client
    from app.services import Services
    from app.settings import Endpoint, Settings
    from app.speech_settings import Speaker
    from domain.embedding_set import EmbeddingSet
    from domain.ports import (
        BlobStore,
        ChatModel,
        Embedder,
        Reranker,
        Speech,
        Transcriber,
        Vision,
    )
    from domain.stores import UnitOfWork
    from domain.usecases.administer import Administer


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


def check(settings: "Settings") -> None:
    """Find out early what would keep web and workers from starting.

    Raises:
        Rejected: a model has no price, or the price file cannot be used.
    """
    from adapters.prices import load_prices

    prices = load_prices(settings.prices_file)
    for reads in (settings.embedding, settings.rerank):
        if reads:
            prices.of_reading(reads.model)
    for writes in (settings.chat, settings.vision):
        if writes:
            prices.of_writing(writes.model)
    if settings.stt:
        prices.of_sound(settings.stt.model)
    if settings.tts and settings.tts.model:
        prices.of_speech(settings.tts.model)


@asynccontextmanager
async def administration(database_url: str, credit: "Decimal") -> AsyncIterator["Administer"]:
    """What an admin does at the command line; it needs the database alone.

    Args:
        credit: USD that a new account may spend.
    """
    from adapters.passwords import Argon2Passwords
    from adapters.postgres.connection import open_pool
    from adapters.postgres.unit_of_work import PostgresUnitOfWork
    from domain.usecases.administer import Administer

    hasher = Argon2Passwords()
    try:
        async with open_pool(database_url, size=2) as pool:
            yield Administer(PostgresUnitOfWork(pool), hasher, credit)
    finally:
        hasher.close()


@asynccontextmanager
async def services(settings: "Settings") -> AsyncIterator["Services"]:
    """Open every adapter, hand them to the use-cases, close all of it at the end.

    Raises:
        Rejected: the settings do not fit each other or the database; the message says which.
    """
    from adapters.archive import ZipArchives
    from adapters.clock import SystemClock
    from adapters.extraction.pdf_process import PdfProcesses
    from adapters.extraction.reader import FileReader
    from adapters.extraction.sound_process import SoundProcesses
    from adapters.passwords import Argon2Passwords
    from adapters.postgres.connection import open_pool
    from adapters.postgres.listener import PostgresListener
    from adapters.postgres.unit_of_work import PostgresUnitOfWork
    from adapters.prices import load_prices
    from adapters.web.client import WebClient
    from app.chunkers import chunker_named
    from app.periodic import renewing
    from app.services import Ports, wire
    from domain import channels

    if not settings.database_url:
        raise Rejected("DATABASE_URL is not set. `beleg up` runs a database by itself.")
    async with AsyncExitStack() as stack:
        uow = PostgresUnitOfWork(
            await stack.enter_async_context(
                open_pool(settings.database_url, size=settings.database_pool_size)
            )
        )
        embedding_set, notices = await _embedding_set(settings, uow)
        embedder, floor = await _embedder(settings, embedding_set, stack)
        reader = FileReader(PdfProcesses(size=2))
        stack.push_async_callback(reader.aclose)
        listener = PostgresListener(settings.database_url, channels.ALL)
        hasher = Argon2Passwords()
        stack.callback(hasher.close)
        identities = None
        if settings.oidc:
            from adapters.oidc import OpenIdProvider

            client = settings.oidc
            identities = await stack.enter_async_context(
                OpenIdProvider(client.issuer, client.client_id, client.client_secret, SystemClock())
            )
        sounds = SoundProcesses()
        ports = Ports(
            uow=uow,
            is_ready=uow.is_ready,
            listener=await stack.enter_async_context(listener),
            clock=SystemClock(),
            hasher=hasher,
            identities=identities,
            blobs=_blobs(settings.storage_url),
            archiver=ZipArchives(),
            reader=reader,
            web=WebClient(allowed_hosts=settings.url_allow_hosts),
            embedder=embedder,
            embedding_set=embedding_set,
            chunker=chunker_named(embedding_set.chunker),
            similarity_floor=floor,
            chat=await _chat(settings, stack),
            vision=await _vision(settings, stack),
            sounds=sounds,
            transcriber=await _transcriber(settings, stack),
            speech=await _speech(settings, sounds, stack),
            joiner=sounds,
            prices=load_prices(settings.prices_file),
            reranker=await _reranker(settings, stack),
        )
        wired = wire(ports, settings, notices)
        await stack.enter_async_context(renewing(wired))
        # What is there by now stays: the collector need not walk it again and again.
        gc.freeze()
        yield wired


async def _embedding_set(
    settings: "Settings", uow: "UnitOfWork"
) -> tuple["EmbeddingSet", tuple[str, ...]]:
    """The set in force. The configured one becomes it only where nothing would be lost."""
    from adapters.inference.local import LOCAL_DIMENSION, LOCAL_MODEL, LocalEmbedder
    from app.chunkers import chosen_chunker

    if settings.embedding:
        model, dimension = settings.embedding.model, settings.embedding_dimension
        window = 420, 50
    else:
        model, dimension = LOCAL_MODEL, LOCAL_DIMENSION
        window = LocalEmbedder.chunk_tokens, LocalEmbedder.chunk_overlap_tokens
    chunker = chosen_chunker(settings, window)
    async with uow() as tx:
        active = await tx.index.active_set()
        if active and (active.model, active.dimension, active.chunker) == (
            *(model, dimension),
            chunker.name,
        ):
            return active, ()
        if active is None or await tx.index.is_empty(active.id):
            return await tx.index.activate(model, dimension, chunker.name), ()
    notice = (
        f"Sources here are embedded with {active.model} ({active.dimension} dimensions,"
        f" {active.chunker}); the settings name {model} ({dimension}, {chunker.name})."
        " The embedded one stays in use: questions and sources must share one set."
    )
    return active, (notice,)


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
    from adapters.inference.embedder import EmbeddingHabits, OpenAIEmbedder

    client = await _client(settings.embedding, stack)
    habits = EmbeddingHabits(
        max_batch_items=settings.embedding_batch_items, timeout_s=settings.embedding_timeout_s
    )
    return OpenAIEmbedder(client, active.model, active.dimension, habits), 0.3


async def _chat(settings: "Settings", stack: AsyncExitStack) -> "ChatModel | None":
    if settings.chat is None:
        return None
    from adapters.inference.chat import ChatHabits, ChatTimeouts, OpenAIChatModel

    client = await _client(settings.chat, stack)
    habits = ChatHabits(reasoning_effort=settings.llm_reasoning_effort)
    timeouts = ChatTimeouts(
        settings.llm_first_token_timeout_s,
        settings.llm_between_tokens_timeout_s,
        settings.llm_timeout_s,
    )
    return OpenAIChatModel(client, settings.chat.model, habits, timeouts)


async def _vision(settings: "Settings", stack: AsyncExitStack) -> "Vision | None":
    """The vision model, or the local reader of pictures where it is installed."""
    if settings.vision is None:
        from adapters.inference.tesseract import installed_tesseract

        return installed_tesseract()
    from adapters.inference.vision import OpenAIVision, VisionHabits

    client = await _client(settings.vision, stack)
    habits = VisionHabits(
        settings.vision_max_output_tokens,
        settings.vision_timeout_s,
        settings.vision_reasoning_effort,
    )
    return OpenAIVision(client, settings.vision.model, habits)


async def _transcriber(settings: "Settings", stack: AsyncExitStack) -> "Transcriber | None":
    """The endpoint's, or the local model where it is installed."""
    if settings.stt is None:
        from adapters.inference.local_transcriber import LocalTranscriber, installed

        return LocalTranscriber() if installed() else None
    from adapters.inference.transcriber import OpenAITranscriber

    client = await _client(settings.stt, stack)
    return OpenAITranscriber(client, settings.stt.model, settings.stt_timeout_s)


async def _speech(
    settings: "Settings", sounds: "SoundProcesses", stack: AsyncExitStack
) -> "Speech | None":
    """The provider's voices, or those that are installed here."""
    tts = settings.tts
    if tts is None or tts.provider == "local":
        from adapters.speech.local import installed_voices

        found = installed_voices(sounds)
        if tts and found is None:
            raise Rejected(
                "TTS_PROVIDER is local, and nothing here reads aloud: install espeak-ng, or"
                " beleg[voice] for English."
            )
        return found
    from adapters.speech.recording import SpeechHabits

    habits = SpeechHabits(tts.model, tts.voices, settings.tts_timeout_s)
    match tts.provider:
        case "azure":
            from adapters.speech.azure import AzureSpeech, open_azure

            http = await stack.enter_async_context(open_azure(tts.base_url, tts.api_key))
            return AzureSpeech(http, habits, sounds)
        case "elevenlabs":
            from adapters.speech.elevenlabs import ElevenLabsSpeech, open_elevenlabs

            http = await stack.enter_async_context(open_elevenlabs(tts.base_url, tts.api_key))
            return ElevenLabsSpeech(http, habits, sounds)
        case "openai":
            from adapters.speech.openai import OpenAISpeech

            return OpenAISpeech(await _client(tts, stack), habits, sounds)
        case _:
            return None


async def _reranker(settings: "Settings", stack: AsyncExitStack) -> "Reranker | None":
    if settings.rerank is None:
        return None
    from adapters.inference.reranker import HttpReranker

    client = await _client(settings.rerank, stack)
    return HttpReranker(client, settings.rerank.model, timeout_s=settings.rerank_timeout_s)


async def _client(endpoint: "Endpoint | Speaker", stack: AsyncExitStack) -> "Client":
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
