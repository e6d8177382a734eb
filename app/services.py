"""What web and workers call: every use-case, wired."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal

import structlog

from app.settings import Settings
from app.studio import studio
from domain.account_contents import AccountContents
from domain.embedding_set import EmbeddingSet
from domain.fetching import FetchPage
from domain.hearing import Hearing
from domain.live import LiveAnswers
from domain.metering import Meter, MeteredEmbedder
from domain.pdf_capture import MOST_PDF_PAGES
from domain.ports import (
    Archiver,
    BlobStore,
    ChatModel,
    Chunker,
    Clock,
    Embedder,
    IdentityProvider,
    Listener,
    PasswordHasher,
    Reader,
    Reranker,
    SoundJoiner,
    SoundReader,
    Speech,
    Transcriber,
    Vision,
    WebFetcher,
)
from domain.prices import PriceList
from domain.reranking import MeteredReranker
from domain.retrieval import RetrievalSettings
from domain.sight import Sight
from domain.sign_up import SignUpRules
from domain.speaking import MeteredSpeech
from domain.stores import UnitOfWork
from domain.usage import TokenUsage
from domain.usecases.add_source import AddSource
from domain.usecases.administer import Administer
from domain.usecases.answer_question import AnswerQuestion, AnswerSettings
from domain.usecases.ask_question import AskQuestion
from domain.usecases.capture_source import CaptureSource
from domain.usecases.change_password import ChangePassword
from domain.usecases.create_document import CreateDocument
from domain.usecases.delete_account import DeleteAccount
from domain.usecases.export_account import ExportAccount
from domain.usecases.follow_answer import FollowAnswer
from domain.usecases.generate_document import GenerateDocument
from domain.usecases.ingest_source import IngestSettings, IngestSource
from domain.usecases.manage_accounts import ManageAccounts
from domain.usecases.manage_credentials import ManageCredentials
from domain.usecases.manage_documents import ManageDocuments
from domain.usecases.manage_notebooks import ManageNotebooks
from domain.usecases.manage_sources import ManageSources
from domain.usecases.operate import Operate
from domain.usecases.rate_answer import RateAnswer
from domain.usecases.read_audit import ReadAudit
from domain.usecases.read_citation import ReadCitation
from domain.usecases.read_usage import ReadUsage
from domain.usecases.reap import Reap
from domain.usecases.search_notebook import SearchNotebook
from domain.usecases.share_notebook import ShareNotebook
from domain.usecases.sign_in_elsewhere import SignInElsewhere
from domain.usecases.suggest_questions import SuggestQuestions
from domain.usecases.summarise_source import SummariseSource
from domain.usecases.sweep_files import SweepFiles


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that web and workers call."""

    settings: Settings
    accounts: ManageAccounts
    credentials: ManageCredentials
    change_password: ChangePassword
    sign_in_elsewhere: SignInElsewhere | None
    administer: Administer
    operate: Operate
    export_account: ExportAccount
    delete_account: DeleteAccount
    share: ShareNotebook
    audit: ReadAudit
    notebooks: ManageNotebooks
    add_source: AddSource
    sources: ManageSources
    ingest_source: IngestSource
    summarise_source: SummariseSource
    search: SearchNotebook
    ask: AskQuestion
    answer_question: AnswerQuestion
    answers: FollowAnswer
    rate_answer: RateAnswer
    suggest: SuggestQuestions
    read_citation: ReadCitation
    live: LiveAnswers
    listener: Listener
    speech: MeteredSpeech | None
    """None where nothing reads aloud."""
    create_document: CreateDocument
    generate_document: GenerateDocument
    documents: ManageDocuments
    usage: ReadUsage
    reap: Reap
    renew_calls: Callable[[], Awaitable[None]]
    """Renews the leases of the model calls that this process is making."""
    sweep_files: SweepFiles
    embedding_set: EmbeddingSet
    notices: tuple[str, ...]
    """What an operator should know, one sentence each."""
    is_ready: Callable[[], Awaitable[bool]]
    """True once the database answers."""


@dataclass(frozen=True, slots=True)
class Ports:
    """What the use-cases stand on, whoever stands behind it."""

    uow: UnitOfWork
    is_ready: Callable[[], Awaitable[bool]]
    listener: Listener
    clock: Clock
    hasher: PasswordHasher
    identities: IdentityProvider | None
    blobs: BlobStore
    archiver: Archiver
    reader: Reader
    web: WebFetcher
    embedder: Embedder
    embedding_set: EmbeddingSet
    chunker: Chunker
    """The one that the embedding set was made with."""
    similarity_floor: float
    """The embedding model's own."""
    chat: ChatModel | None
    vision: Vision | None
    sounds: SoundReader
    transcriber: Transcriber | None
    speech: Speech | None
    joiner: SoundJoiner
    prices: PriceList
    reranker: Reranker | None = None


def wire(ports: Ports, settings: Settings, notices: tuple[str, ...] = ()) -> Services:
    """The use-cases over those ports.

    Raises:
        NoPrice: a model has none.
    """
    uow, clock, chat, prices = ports.uow, ports.clock, ports.chat, ports.prices
    meter = Meter(prices, uow, clock)
    metered = MeteredEmbedder(ports.embedder, meter)
    prices.of_reading(ports.embedder.model)
    sight = _sight(ports.vision, meter, settings)
    if ports.transcriber:
        prices.of_sound(ports.transcriber.model)
    if ports.speech:
        prices.of_speech(ports.speech.model)
    floor = settings.similarity_floor
    retrieval = RetrievalSettings(
        mode=settings.retrieval_mode,
        k=settings.retrieval_k,
        candidates=settings.retrieval_candidates,
        diversity=settings.retrieval_diversity,
        generated_slots=settings.retrieval_generated_slots,
        rrf_k=settings.rrf_k,
        floor=ports.similarity_floor if floor is None else floor,
    )
    answering = AnswerSettings(retrieval, settings.llm_max_output_tokens)
    bound = TokenUsage(_PROMPT_BOUND_TOKENS, settings.llm_max_output_tokens)
    writing_cost = prices.of_writing(chat.model).cost(bound) if chat else Decimal(0)
    reranker = None
    if ports.reranker:
        reranker = MeteredReranker(ports.reranker, meter, _reranking_failed)
        pairs = TokenUsage(settings.retrieval_candidates * _RERANKED_BOUND_TOKENS)
        writing_cost += prices.of_reading(ports.reranker.model).cost(pairs)
    live = LiveAnswers()
    sources = ManageSources(uow, ports.blobs, ports.reader)
    speech = MeteredSpeech(ports.speech, meter) if ports.speech else None
    made = studio(settings, meter, ports.blobs, chat, speech, ports.joiner, sources.delete)
    rules = SignUpRules(settings.sign_up, settings.signup_credit)
    return Services(
        settings=settings,
        accounts=ManageAccounts(uow, ports.hasher, clock, rules),
        credentials=ManageCredentials(uow),
        change_password=ChangePassword(uow, ports.hasher),
        sign_in_elsewhere=(
            SignInElsewhere(uow, ports.identities, rules) if ports.identities else None
        ),
        administer=Administer(uow, ports.hasher, settings.signup_credit),
        export_account=ExportAccount(
            uow, ports.blobs, ports.archiver, clock, AccountContents(uow, ports.blobs).steps
        ),
        delete_account=DeleteAccount(uow, ports.blobs, sources.delete),
        operate=Operate(uow, settings.max_running_audio_overviews_per_notebook),
        share=ShareNotebook(uow, clock),
        audit=ReadAudit(uow),
        notebooks=ManageNotebooks(uow, made.documents.delete_all),
        add_source=AddSource(
            uow,
            ports.blobs,
            ports.reader,
            clock,
            settings.max_file_bytes,
            settings.max_audio_bytes,
            settings.max_sources_per_notebook,
            settings.url_allow_hosts,
        ),
        sources=sources,
        ingest_source=IngestSource(
            uow,
            CaptureSource(
                uow,
                ports.blobs,
                ports.reader,
                FetchPage(uow, ports.blobs, ports.reader, ports.web),
                sight,
                Hearing(uow, ports.blobs, ports.sounds, ports.transcriber, meter),
                settings.max_words_per_source,
            ),
            ports.chunker,
            metered,
            ports.embedding_set,
            IngestSettings(
                max_words=settings.max_words_per_source, summaries=settings.source_summaries
            ),
        ),
        summarise_source=SummariseSource(
            *(uow, meter, ports.embedding_set, chat, settings.llm_max_output_tokens)
        ),
        search=SearchNotebook(uow, metered, ports.embedding_set, retrieval, reranker),
        ask=AskQuestion(
            uow,
            clock,
            metered,
            can_write=chat is not None,
            writing_cost=writing_cost,
            max_questions_per_notebook_day=settings.max_questions_per_notebook_day,
            history_messages=settings.chat_history_messages,
        ),
        answer_question=AnswerQuestion(
            uow, clock, metered, ports.embedding_set, chat, prices, answering, reranker
        ),
        answers=FollowAnswer(uow, live, ports.listener),
        rate_answer=RateAnswer(uow),
        suggest=SuggestQuestions(uow, meter, chat, settings.llm_max_output_tokens),
        read_citation=ReadCitation(uow),
        live=live,
        listener=ports.listener,
        speech=speech,
        create_document=made.create,
        generate_document=made.generate,
        documents=made.documents,
        usage=ReadUsage(uow),
        reap=Reap(uow),
        renew_calls=meter.renew,
        sweep_files=SweepFiles(uow, ports.blobs, clock),
        embedding_set=ports.embedding_set,
        notices=notices,
        is_ready=ports.is_ready,
    )


def _sight(vision: Vision | None, meter: Meter, settings: Settings) -> Sight | None:
    if vision is None:
        return None
    meter.prices.of_writing(vision.model)
    # What costs nothing may read every page that is read at all.
    most_pages = settings.pdf_vision_max_pages if settings.vision else MOST_PDF_PAGES
    return Sight(vision, meter, most_pages)


def _reranking_failed(error: Exception) -> None:
    _log.warning("reranking_failed", error=str(error))


_log = structlog.get_logger()
_RERANKED_BOUND_TOKENS = 10_000
"""More, as bytes, than a question and a chunk have."""
_PROMPT_BOUND_TOKENS = 80_000
"""More, as bytes, than a prompt holds: passages, history, question and the list of documents."""
