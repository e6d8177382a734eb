"""Settings, read from the environment once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from urllib.parse import urlsplit

from app.data_folder import default_data_folder
from app.speech_settings import Speaker, speaker
from domain.errors import Rejected
from domain.pdf_capture import MOST_PDF_PAGES
from domain.retrieval import RetrievalMode
from domain.sign_up import SignUp

LOCAL_MODEL = "multilingual-e5-small"
LOCAL_EARS = "whisper-base"
QUOTING = "extractive"
LOCAL_VISION = "tesseract"
_LONGEST_CALL_S = 600
_VULTR = "https://api.vultrinference.com/v1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint and a model on it."""

    base_url: str
    api_key: str = field(repr=False)
    model: str = ""


@dataclass(frozen=True, slots=True)
class OidcClient:
    """What an OpenID Connect provider calls this installation; PKCE may do without a secret."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting; the environment variable has the field's name in capitals."""

    database_url: str = field(repr=False)
    """`postgresql://…`; `beleg up` sets it to its embedded database."""
    beleg_local: bool
    """Local mode: the browser on this machine is signed in by itself."""
    chat: Endpoint | None
    """LLM_MODEL, LLM_BASE_URL, LLM_API_KEY; None: answers are quoted, no model writes."""
    embedding: Endpoint | None
    """EMBEDDING_MODEL, EMBEDDING_BASE_URL, EMBEDDING_API_KEY; None: the local model."""
    embedding_dimension: int
    """Length of the vectors asked for."""
    llm_max_output_tokens: int
    """What an answer may have, reasoning included."""
    llm_first_token_timeout_s: float
    """Seconds a chat model may take to begin its answer."""
    llm_between_tokens_timeout_s: float
    """Seconds it may fall silent within its answer."""
    llm_timeout_s: float
    """Seconds a whole answer may take."""
    embedding_batch_items: int
    """Texts that one embedding request may carry; few, since a kill loses what is in flight."""
    embedding_timeout_s: float
    """Seconds an embedding request may take."""
    llm_reasoning_effort: str | None
    """Sent to the chat model where set; providers refuse levels they do not know."""
    vision: Endpoint | None
    """VISION_MODEL, VISION_BASE_URL, VISION_API_KEY; None: tesseract, where it is installed."""
    vision_max_output_tokens: int
    """What the transcript of a picture may have, reasoning included."""
    vision_timeout_s: float
    """Seconds a picture may take."""
    vision_reasoning_effort: str | None
    """Sent to the vision model where set."""
    pdf_vision_max_pages: int
    """Pages of one PDF that a vision model may read."""
    stt: Endpoint | None
    """STT_MODEL, STT_BASE_URL, STT_API_KEY; None: the local model, where it is installed."""
    stt_timeout_s: float
    """Seconds a recording may take to be sent and transcribed."""
    tts: Speaker | None
    """TTS_PROVIDER and the variables of its provider; None: what is installed here."""
    tts_timeout_s: float
    """Seconds a piece of text may take to be read aloud."""
    prices_file: Path | None
    """Prices over the shipped ones, in TOML."""
    storage_url: str
    """`file:///folder`: where uploaded files are kept."""
    chunker: str
    """`token-window`, `recursive` or `character-window`: how passages are cut."""
    chunk_tokens: int | None
    """Tokens of a chunk; None: what suits the embedding model."""
    chunk_overlap_tokens: int | None
    """Tokens that neighbouring chunks share; None: what suits the embedding model."""
    retrieval_mode: RetrievalMode
    """`weighted`, `rrf`, `vector` or `keyword`."""
    retrieval_k: int
    """Chunks a question gets."""
    retrieval_candidates: int
    """Chunks that each side of a search puts forward."""
    rerank: Endpoint | None
    """RERANK_MODEL, RERANK_BASE_URL, RERANK_API_KEY; None: nothing is reranked."""
    rerank_timeout_s: float
    """Seconds a reranking request may take; then the search's own order stands."""
    retrieval_diversity: float
    """How far a question draws on several sources; 0: not at all."""
    retrieval_generated_slots: int
    """Chunks of generated documents that a question gets at most."""
    rrf_k: int
    """Rank offset of reciprocal rank fusion."""
    similarity_floor: float | None
    """Least cosine of a chunk that only the vector side found; None: the model's own."""
    chat_history_messages: int
    """Earlier messages that go to the chat model."""
    oidc: OidcClient | None
    """OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET: a provider to sign in at; None for none."""
    sign_up: SignUp
    """`open`: anybody may make an account, the default in local mode; `invite`; `closed`."""
    signup_credit: Decimal
    """USD that a new account may spend."""
    max_file_bytes: int
    """Bytes of an uploaded file."""
    url_allow_hosts: tuple[str, ...]
    """Hosts, or host:port, that web pages are fetched from even where they are not public."""
    max_audio_bytes: int
    """Bytes of an uploaded recording."""
    source_summaries: bool
    """Whether a source that is ready is summarised, by the chat model or from its sentences."""
    max_words_per_source: int
    """Words of a source."""
    max_sources_per_notebook: int
    """Sources of a notebook."""
    max_questions_per_notebook_day: int
    """Questions a notebook takes a day (UTC)."""
    max_running_audio_overviews_per_notebook: int
    """Audio overviews of a notebook that are made at once."""
    max_audio_overviews_per_notebook: int
    """Audio overviews that a notebook keeps."""
    max_audio_overviews_per_day: int
    """Audio overviews that a person makes a day (UTC), deleted ones included."""
    htmx_base_url: str
    """The folder of htmx.min.js and hx-sse.min.js that pages load; "" for the CDN."""
    database_pool_size: int
    """Connections one process may hold."""


def read_settings(environment: Mapping[str, str] = os.environ) -> Settings:
    """The settings in force.

    Raises:
        Rejected: a value cannot be read; the message names the variable.
    """
    read = _Environment(environment)
    named = read.text("BELEG_DATA")
    data = (Path(named) if named else default_data_folder()).expanduser().resolve()
    prices = read.text("PRICES_FILE")
    is_local = read.choice("BELEG_LOCAL", "0", ["0", "1"]) == "1"
    # On a network, an account is credit at the operator's expense.
    by_default = SignUp.OPEN if is_local else SignUp.CLOSED
    return Settings(
        database_url=read.url("DATABASE_URL", "", "postgresql", "postgres"),
        beleg_local=is_local,
        chat=read.endpoint("LLM", "qwen3.8-27b", unless=QUOTING),
        embedding=read.endpoint("EMBEDDING", "qwen3-embedding-4b", unless=LOCAL_MODEL),
        embedding_dimension=read.integer("EMBEDDING_DIMENSION", 1024, 1, 4000),
        llm_max_output_tokens=read.integer("LLM_MAX_OUTPUT_TOKENS", 4096, 16),
        llm_first_token_timeout_s=read.seconds("LLM_FIRST_TOKEN_TIMEOUT_S", 60),
        llm_between_tokens_timeout_s=read.seconds("LLM_BETWEEN_TOKENS_TIMEOUT_S", 30),
        llm_timeout_s=read.seconds("LLM_TIMEOUT_S", 300),
        embedding_batch_items=read.integer("EMBEDDING_BATCH_ITEMS", 16, 1, 2048),
        embedding_timeout_s=read.seconds("EMBEDDING_TIMEOUT_S", 60),
        llm_reasoning_effort=read.text("LLM_REASONING_EFFORT") or None,
        vision=read.endpoint("VISION", "qwen3.8-27b", unless=LOCAL_VISION),
        vision_max_output_tokens=read.integer("VISION_MAX_OUTPUT_TOKENS", 8192, 64),
        vision_timeout_s=read.seconds("VISION_TIMEOUT_S", 120),
        vision_reasoning_effort=read.text("VISION_REASONING_EFFORT") or None,
        pdf_vision_max_pages=read.integer("PDF_VISION_MAX_PAGES", 100, 0, MOST_PDF_PAGES),
        stt=read.named_endpoint("STT", unless=LOCAL_EARS),
        stt_timeout_s=read.seconds("STT_TIMEOUT_S", 600),
        tts=speaker(read),
        tts_timeout_s=read.seconds("TTS_TIMEOUT_S", 300),
        prices_file=Path(prices) if prices else None,
        storage_url=read.url("STORAGE_URL", (data / "files").as_uri(), "file"),
        chunker=read.choice(
            "CHUNKER", "token-window", ["token-window", "recursive", "character-window"]
        ),
        chunk_tokens=read.optional_integer("CHUNK_TOKENS", 16),
        chunk_overlap_tokens=read.optional_integer("CHUNK_OVERLAP_TOKENS", 0),
        retrieval_mode=RetrievalMode(
            read.choice("RETRIEVAL_MODE", "weighted", [mode.value for mode in RetrievalMode])
        ),
        retrieval_k=read.integer("RETRIEVAL_K", 8, 1, 100),
        retrieval_candidates=read.integer("RETRIEVAL_CANDIDATES", 30, 1, 1000),
        rerank=read.endpoint("RERANK", "", unless=""),
        rerank_timeout_s=read.seconds("RERANK_TIMEOUT_S", 10),
        retrieval_diversity=read.share("RETRIEVAL_DIVERSITY", 2.0, 10),
        retrieval_generated_slots=read.integer("RETRIEVAL_GENERATED_SLOTS", 2, 0, 100),
        rrf_k=read.integer("RRF_K", 50, 1),
        similarity_floor=read.cosine("SIMILARITY_FLOOR"),
        chat_history_messages=read.integer("CHAT_HISTORY_MESSAGES", 12, 0, 200),
        oidc=read.oidc(),
        sign_up=SignUp(read.choice("SIGN_UP", by_default, [mode.value for mode in SignUp])),
        signup_credit=read.money("SIGNUP_CREDIT", "5"),
        max_file_bytes=read.integer("MAX_FILE_BYTES", 20_000_000, 1),
        url_allow_hosts=read.hosts("URL_ALLOW_HOSTS"),
        max_audio_bytes=read.integer("MAX_AUDIO_BYTES", 500_000_000, 1),
        source_summaries=read.choice("SOURCE_SUMMARIES", "on", ["on", "off"]) == "on",
        max_words_per_source=read.integer("MAX_WORDS_PER_SOURCE", 200_000, 1),
        max_sources_per_notebook=read.integer("MAX_SOURCES_PER_NOTEBOOK", 50, 1),
        max_questions_per_notebook_day=read.integer("MAX_QUESTIONS_PER_NOTEBOOK_DAY", 50, 0),
        max_running_audio_overviews_per_notebook=read.integer(
            "MAX_RUNNING_AUDIO_OVERVIEWS_PER_NOTEBOOK", 1, 0
        ),
        max_audio_overviews_per_notebook=read.integer("MAX_AUDIO_OVERVIEWS_PER_NOTEBOOK", 20, 0),
        max_audio_overviews_per_day=read.integer("MAX_AUDIO_OVERVIEWS_PER_DAY", 10, 0),
        htmx_base_url=read.text("HTMX_BASE_URL").rstrip("/"),
        database_pool_size=read.integer("DATABASE_POOL_SIZE", 10, 2, 200),
    )


@dataclass(frozen=True, slots=True)
class _Environment:
    """Values by name; an empty one counts as absent."""

    values: Mapping[str, str]

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, "").strip() or default

    def hosts(self, name: str) -> tuple[str, ...]:
        """Hosts, or host:port, between commas."""
        found = tuple(part.strip().lower() for part in self.text(name).split(",") if part.strip())
        for host in found:
            if "/" in host or " " in host:
                raise Rejected(f"{name} has hosts between commas, not addresses: {host!r}.")
        return found

    def choice(self, name: str, default: str, choices: list[str]) -> str:
        value = self.text(name, default)
        if value not in choices:
            raise Rejected(f"{name} is one of {', '.join(choices)}, not {value!r}.")
        return value

    def optional_integer(self, name: str, least: int) -> int | None:
        return self.integer(name, 0, least) if self.text(name) else None

    def integer(self, name: str, default: int, least: int, most: int | None = None) -> int:
        value = self.text(name, str(default))
        try:
            number = int(value)
        except ValueError:
            raise Rejected(f"{name} is a whole number, not {value!r}.") from None
        if number < least or (most is not None and number > most):
            bounds = f"at least {least}" if most is None else f"{least} to {most}"
            raise Rejected(f"{name} is {bounds}, not {number}.")
        return number

    def optional_number(self, name: str) -> float | None:
        value = self.text(name)
        if not value:
            return None
        try:
            return float(value)
        except ValueError:
            raise Rejected(f"{name} is a number, not {value!r}.") from None

    def share(self, name: str, default: float, most: float) -> float:
        value = self.optional_number(name)
        if value is None:
            return default
        if not 0 <= value <= most:
            raise Rejected(f"{name} is a number from 0 to {most:g}, not {value}.")
        return value

    def cosine(self, name: str) -> float | None:
        value = self.optional_number(name)
        if value is not None and not -1 <= value <= 1:
            raise Rejected(f"{name} is a cosine, -1 to 1, not {value}.")
        return value

    def url(self, name: str, default: str, *schemes: str) -> str:
        value = self.text(name, default)
        if value and value.partition("://")[0] not in schemes:
            raise Rejected(f"{name} begins with {' or '.join(f'{s}://' for s in schemes)}.")
        if value.startswith("http") and not _names_a_host(value):
            raise Rejected(f"{name} is an address like https://host/v1, with a host after //.")
        return value

    def seconds(self, name: str, default: float) -> float:
        """A time limit of a model call; shorter than a request with an idempotency key may take."""
        value = self.optional_number(name)
        if value is None:
            return default
        if not 0 < value <= _LONGEST_CALL_S:
            raise Rejected(f"{name} is more than 0 and at most {_LONGEST_CALL_S}, not {value}.")
        return value

    def money(self, name: str, default: str) -> Decimal:
        value = self.text(name, default)
        try:
            amount = Decimal(value)
        except InvalidOperation:
            amount = Decimal("NaN")
        if not amount.is_finite() or amount < 0:
            raise Rejected(f"{name} is an amount in USD, not {value!r}.")
        return amount

    def named_endpoint(self, kind: str, *, unless: str) -> Endpoint | None:
        """As `endpoint`, for a kind whose model has to be named: no provider has a usual one."""
        if self.text(f"{kind}_MODEL"):
            return self.endpoint(kind, "", unless=unless)
        if self.text(f"{kind}_BASE_URL") or self.text(f"{kind}_API_KEY"):
            raise Rejected(f"{kind}_MODEL is not set: name the model of {kind}_BASE_URL.")
        return None

    def oidc(self) -> OidcClient | None:
        """A provider to sign in at; what it says is only worth what protects it on its way."""
        issuer = self.url("OIDC_ISSUER", "", "https", "http")
        client_id, secret = self.text("OIDC_CLIENT_ID"), self.text("OIDC_CLIENT_SECRET")
        if not issuer:
            return None
        is_here = urlsplit(issuer).hostname in {"localhost", "127.0.0.1", "::1"}
        if issuer.startswith("http://") and not is_here:
            raise Rejected("OIDC_ISSUER begins with https://.")
        if not client_id:
            raise Rejected("OIDC_ISSUER is set, and OIDC_CLIENT_ID is not.")
        return OidcClient(issuer, client_id, secret)

    def endpoint(self, kind: str, model: str, *, unless: str) -> Endpoint | None:
        """A kind's own endpoint, or the one for everything; None where neither is set."""
        shared = self.url("INFERENCE_BASE_URL", "", "http", "https")
        base_url = self.url(f"{kind}_BASE_URL", shared, "http", "https")
        key = self.text(f"{kind}_API_KEY") or self.text("INFERENCE_API_KEY")
        named = self.text(f"{kind}_MODEL", model)
        if named == unless or not (base_url or key):
            if self.text(f"{kind}_MODEL") not in {"", unless}:
                raise Rejected(
                    f"{kind}_MODEL names {named}, but no endpoint is set: set INFERENCE_API_KEY,"
                    f" or {kind}_BASE_URL for a server of your own."
                )
            return None
        return Endpoint(base_url or _VULTR, key, named)


def _names_a_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
