"""The use-cases of documents, wired."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal

from app.settings import Settings
from domain.account import User
from domain.audio_overview import AudioOverview
from domain.document import DocumentKind
from domain.ids import SourceId
from domain.making import Drafting
from domain.metering import Meter
from domain.overview_script import MOST_CHARACTERS
from domain.ports import BlobStore, ChatModel, SoundJoiner
from domain.speaking import MeteredSpeech
from domain.speech import VOICES, Line
from domain.usage import TokenUsage
from domain.usecases.create_document import Caps, CreateDocument
from domain.usecases.generate_document import GenerateDocument
from domain.usecases.manage_documents import ManageDocuments

_DRAFTS = 2
_LINES = 60
"""About as many as a script of two speakers has."""
_PROMPT_BOUND_TOKENS = 150_000
"""More, as bytes, than the prompt of a script has, a first draft in it."""


@dataclass(frozen=True, slots=True)
class Studio:
    """What makes documents and hands them out."""

    create: CreateDocument
    generate: GenerateDocument
    documents: ManageDocuments


def studio(
    settings: Settings,
    meter: Meter,
    blobs: BlobStore,
    chat: ChatModel | None,
    speech: MeteredSpeech | None,
    joiner: SoundJoiner,
    delete_source: Callable[[User, SourceId], Awaitable[None]],
) -> Studio:
    """The use-cases over those ports.

    Args:
        chat: None where no model writes.
        speech: None where nothing reads aloud.
        delete_source: deletes a source with everything made from it.
    """
    uow, clock = meter.uow, meter.clock
    drafting = Drafting(uow, meter, chat, settings.llm_max_output_tokens) if chat else None
    overview = AudioOverview(uow, drafting, speech, joiner)
    caps = Caps(
        running=settings.max_running_audio_overviews_per_notebook,
        kept=settings.max_audio_overviews_per_notebook,
        of_day=settings.max_audio_overviews_per_day,
    )
    return Studio(
        create=CreateDocument(
            uow,
            clock,
            voices=speech.speech.voices if speech else None,
            can_write=chat is not None,
            most_cost=_most_cost(settings, meter, chat, speech),
            caps=caps,
        ),
        generate=GenerateDocument(uow, blobs, clock, {DocumentKind.AUDIO_OVERVIEW: overview}),
        documents=ManageDocuments(uow, blobs, clock, delete_source, caps.running),
    )


def _most_cost(
    settings: Settings, meter: Meter, chat: ChatModel | None, speech: MeteredSpeech | None
) -> Decimal:
    """USD that one may cost at most: a script, its repair, and reading it aloud."""
    cost = Decimal(0)
    if chat:
        bound = TokenUsage(_PROMPT_BOUND_TOKENS, settings.llm_max_output_tokens)
        cost += _DRAFTS * meter.prices.of(chat.model).cost(bound)
    if speech:
        voices = [voice for voice in VOICES if voice in speech.speech.voices]
        length = MOST_CHARACTERS // _LINES
        lines = [Line(voices[n % 2 % len(voices)], "x" * length) for n in range(_LINES)]
        cost += speech.most_cost(lines)
    return cost
