"""Every Protocol the domain asks for; a docstring here is the contract that its tests hold."""

from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO, Literal, Protocol

import numpy as np
import numpy.typing as npt

from domain.conversation import Message
from domain.passage import Chunk, Passage
from domain.pdf_capture import PdfText
from domain.sound import Mp3, Sound
from domain.source import Reading, SourceKind
from domain.speech import Line, SpeechLimits, Spoken, Voice
from domain.transcript import Transcript
from domain.usage import TokenUsage

Vectors = npt.NDArray[np.float32]
"""Shape (texts, dimension), C order."""


class Clock(Protocol):
    """The time, and waiting."""

    def now(self) -> datetime:
        """The time, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        ...


class PasswordHasher(Protocol):
    """Slow hashes of passwords, a few at a time: each takes tens of MiB."""

    async def hash(self, password: str) -> str:
        """A salted hash that `verify` accepts."""
        ...

    async def verify(self, hashed: str | None, password: str) -> bool:
        """True where they belong together; None takes as long and is always False."""
        ...

    def is_outdated(self, hashed: str) -> bool:
        """True where today's parameters would make a better hash."""
        ...


@dataclass(frozen=True, slots=True)
class SignInAttempt:
    """What ties a sign-in at a provider to the browser that began it; each is used once."""

    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom an identity provider vouches for.

    Args:
        subject: never changes, and is theirs alone among all issuers.
        is_verified: the provider knows that the address is theirs.
    """

    subject: str
    email: str
    is_verified: bool


class IdentityProvider(Protocol):
    """Where people sign in elsewhere."""

    async def address(self, attempt: SignInAttempt, redirect_uri: str) -> str:
        """Where a browser is sent to sign in; it comes back to `redirect_uri` with a code.

        Raises:
            Unavailable: the provider does not answer.
        """
        ...

    async def identity(self, attempt: SignInAttempt, code: str, redirect_uri: str) -> Identity:
        """Who came back with that code.

        Raises:
            NotSignedIn: it proves nothing, or belongs to another attempt.
            Unavailable: the provider does not answer.
        """
        ...


class Wakeup(Protocol):
    """Something that gets set when there may be news; whoever waits clears it."""

    def set(self) -> None: ...

    def clear(self) -> None: ...

    def is_set(self) -> bool: ...

    async def wait(self) -> object: ...


class Listener(Protocol):
    """Hears what other processes commit."""

    def waiting(self, channel: str, key: str) -> AbstractAsyncContextManager[Wakeup]:
        """A wake-up for every time `key` is named on `channel` ("" hears every name).

        It may come without cause, but never fails to come.
        """
        ...


class BlobStore(Protocol):
    """Files by key. Keys are owner-prefixed and never come from a user."""

    async def put(self, key: str, content: BinaryIO) -> None:
        """Keep the rest of `content` under `key`: whole or not at all; twice is harmless.

        Raises:
            Unavailable: the storage does not take it.
        """
        ...

    async def has(self, key: str) -> bool:
        """True where something is kept under `key`."""
        ...

    async def get(self, key: str) -> bytes:
        """The bytes kept under `key`.

        Raises:
            NotFound: nothing is kept there.
        """
        ...

    async def size(self, key: str) -> int:
        """How many bytes are kept under `key`.

        Raises:
            NotFound: nothing is kept there.
        """
        ...

    def stream(self, key: str, *, first: int = 0) -> AsyncGenerator[bytes, None]:
        """The bytes kept under `key`, from the one counted `first`, a megabyte at most at once.

        Raises:
            NotFound: nothing is kept there.
        """
        ...

    async def delete(self, key: str) -> None:
        """Forget `key`; a key that is not there is no error."""
        ...

    async def keys(self, prefix: str) -> list[str]:
        """Every key that starts with `prefix`, sorted."""
        ...

    async def written_before(self, moment: datetime) -> list[str]:
        """Every key that was written before then, sorted.

        What a killed process left half-written before then is removed on the way.
        """
        ...


@dataclass(frozen=True, slots=True)
class FinishedPart:
    """A part of an archive.

    Args:
        size: in bytes.
        content: the part, from its start.
        directory: what the archive's last part has to tell of this one; its archiver reads it.
    """

    size: int
    content: BinaryIO
    directory: bytes


class OpenPart(Protocol):
    """A part of an archive that is being made."""

    async def add(self, name: str, blocks: AsyncIterable[bytes]) -> None:
        """A file, by its path with `/`; one after the other."""
        ...

    async def finished(self, before: Sequence[bytes] | None = None) -> FinishedPart:
        """The part; nothing is added any more. It may be empty, unless it is the last one.

        Args:
            before: makes it the archive's last part; the directories of all others, in order.
        """
        ...


class Archiver(Protocol):
    """Makes archives of any size in little memory: in parts, which joined are the archive.

    Each may be made by another process on another machine.
    """

    def part(self, first: int) -> AbstractAsyncContextManager[OpenPart]:
        """A new part, which is there as long as the block.

        Args:
            first: how many bytes the parts before it have in all.
        """
        ...


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a web address gave.

    Args:
        url: the address that answered, redirects followed.
        content: its bytes, decoded where they were compressed.
        media_type: the Content-Type header, with its parameters; "" where there was none.
    """

    url: str
    content: bytes
    media_type: str


class WebFetcher(Protocol):
    """The one way out to addresses that users give."""

    async def fetch(self, url: str) -> Fetched:
        """What is behind `url`. Sends no cookie, runs no script, follows redirects.

        Connects to public addresses only: what was checked is what is connected to, at every
        redirect. 15 seconds in all, 10 MB as sent and as decoded.

        Raises:
            AddressRefused: the address, or one it redirects to, may not be fetched.
            Unreachable: it gave no page, or not in time.
            TooLarge: the page is larger than the limit.
        """
        ...


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page as it is shown, rotation applied.

    Each number is a fraction of the page's width or height, from its upper left corner.
    """

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that a model reads, as PNG or JPEG; `width` and `height` in pixels."""

    content: bytes
    media_type: str
    width: int
    height: int


class Seen(StrEnum):
    """What a picture shows."""

    PAGE = "page"
    """A page of a document: its text alone is wanted."""
    IMAGE = "image"
    """A photograph, a drawing, a receipt ...: its text, then a description."""


class Vision(Protocol):
    """Pictures in, text out. One call is one request: no retries inside."""

    @property
    def model(self) -> str:
        """The model's name, as in the price list."""
        ...

    @property
    def dpi(self) -> int:
        """How finely pages are drawn for it."""
        ...

    def bound(self, picture: Picture) -> TokenUsage:
        """The most that a call with this picture may use."""
        ...

    async def transcribe(self, picture: Picture, seen: Seen) -> Transcript:
        """Every legible piece of text, verbatim; of an image a description after it.

        Returns:
            Text "" where nothing is legible; with a `problem` where it is cut or was refused.

        Raises:
            ModelUnavailable, ModelRefused, ModelAnswerInvalid.
        """
        ...


class OpenSound(Protocol):
    """A recording while it is open."""

    @property
    def sound(self) -> Sound:
        """What a walk through it told."""
        ...

    async def content(self) -> bytes:
        """The recording as it is."""
        ...

    async def as_mp3(self, bits_per_s: int) -> bytes:
        """The recording as mono MP3 at 16 kHz.

        Raises:
            Unreadable: it is damaged, or lasts longer than four hours after all.
            Unavailable: the converting process was lost through no fault of the file.
        """
        ...


class SoundReader(Protocol):
    """Recordings, bounded in memory, CPU and time."""

    def opened(self, blocks: AsyncIterable[bytes]) -> AbstractAsyncContextManager[OpenSound]:
        """Open the recording that `blocks` join to; closing it leaves nothing behind.

        Raises:
            Unreadable: it is none, or holds no sound that can be decoded.
            Unavailable: the reading process was lost through no fault of the file.
        """
        ...


class Transcriber(Protocol):
    """Recordings in, text out. One call is one request: no retries inside."""

    @property
    def model(self) -> str:
        """The model's name, as in the price list."""
        ...

    async def transcribe(
        self, content: bytes, sound: Sound, *, on_progress: Callable[[float], Awaitable[None]]
    ) -> Transcript:
        """What is said, in the recording's language.

        Args:
            content: an MP3 or a WAV file.
            sound: what is known of it.
            on_progress: awaited with the seconds heard so far, where the model tells.

        Returns:
            Text "" where nobody speaks.

        Raises:
            ModelUnavailable, ModelRefused, ModelAnswerInvalid.
        """
        ...


class Speech(Protocol):
    """Lines in, a recording out. One call is one request: no retries inside."""

    @property
    def provider(self) -> str:
        """Who speaks: "azure", "elevenlabs", "openai" or "local"."""
        ...

    @property
    def model(self) -> str:
        """The model's name, as in the price list."""
        ...

    @property
    def voices(self) -> frozenset[Voice]:
        """Those it has a voice of its own for."""
        ...

    @property
    def limits(self) -> SpeechLimits:
        """What one call may carry; `domain.speech.batches` cuts by it."""
        ...

    def bound(self, lines: Sequence[Line]) -> TokenUsage:
        """The most that a call with these lines may use: `characters` as they are billed."""
        ...

    async def speak(self, lines: Sequence[Line]) -> Spoken:
        """The lines, read one after the other.

        Args:
            lines: at least one, within `limits`, of `voices`.

        Raises:
            ModelUnavailable, ModelRefused.
            ModelAnswerInvalid: what came is no recording, or too short for its text.
        """
        ...


class SoundJoiner(Protocol):
    """Recordings in, one out, bounded in memory, CPU and time."""

    async def joined(self, parts: Sequence[bytes]) -> Mp3:
        """The parts one after the other as one mono MP3 at 24 kHz and 96 kbit/s.

        Args:
            parts: at least one, of any format and rate that `SoundReader` opens.

        Raises:
            Unreadable: one cannot be decoded, or all of them last longer than an hour.
            Unavailable: the joining process was lost through no fault of the parts.
        """
        ...


class Reader(Protocol):
    """Files in, passages out."""

    def kind_of(self, head: bytes, name: str) -> SourceKind:
        """The kind of a file, from its first 4,096 bytes, or from all of it where it is an archive.

        `name` only tells kinds of text apart.

        Raises:
            UnsupportedType: no reader takes this; the message names what it looks like.
        """
        ...

    async def read(self, content: bytes, kind: SourceKind, *, charset: str = "") -> Reading:
        """Every passage of a file, through the text gate. Bounded in memory, CPU and time.

        Args:
            content: the whole file.
            kind: what `kind_of` said, but PDF and IMAGE, which have methods of their own.
            charset: the encoding that a web server named, where it named one.

        Raises:
            Unreadable: broken, locked, empty, or without a legible text; the message says which
                and what to do.
            Unavailable: the reading process was lost through no fault of the file; may be retried.
        """
        ...

    async def pdf_text(
        self,
        content: bytes,
        password: str = "",
        *,
        on_page: Callable[[int, int], Awaitable[None]],
    ) -> PdfText:
        """The text layer of every page of a PDF, judged and through the gate; as `read` else.

        Args:
            on_page: awaited with (pages read, pages in all) now and then, at most twice a second.

        Raises:
            PasswordNeeded: it opens neither with an empty password nor with this one.
        """
        ...

    async def pdf_pictures(
        self, content: bytes, pages: Sequence[int], password: str = "", *, dpi: int
    ) -> list[Picture | None]:
        """Pages (from 1) of a PDF, in that order; None for one that cannot be drawn.

        A page of more than eight million pixels is drawn smaller.

        Raises:
            PasswordNeeded, Unreadable, Unavailable.
        """
        ...

    async def picture(self, content: bytes, *, most_pixels: int) -> Picture:
        """An image file's first frame, upright and on white, scaled down to so many pixels.

        Raises:
            Unreadable: damaged, or with more pixels than are decoded, which its header tells.
            Unavailable: as `read`.
        """
        ...

    async def page_image(self, content: bytes, page: int, *, width_px: int) -> bytes:
        """A PDF's page (from 1) as PNG, `width_px` wide.

        Raises:
            NotFound: the file has no such page.
            Unreadable: it cannot be drawn.
        """
        ...

    async def highlights(self, content: bytes, page: int, start: int, end: int) -> list[Box]:
        """Where the code points [start, end) of that page's passage stand: a box a line.

        Raises:
            NotFound: the file has no such page.
        """
        ...


class Chunker(Protocol):
    """Passages in, chunks out. Linear in the text, whatever it is."""

    @property
    def name(self) -> str:
        """Names the rule and its parameters; stored with the embedding set."""
        ...

    def chunk(self, passages: Sequence[Passage]) -> list[Chunk]:
        """Every window of every passage, in order, numbered through; none crosses a passage.

        Every visible character stands in a chunk, and no chunk begins or ends with white space:
        a passage of white space gives none. Each holds something the one before does not.
        """
        ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of unit length, a row a text in the order of the texts, and what they used."""

    vectors: Vectors
    usage: TokenUsage


class Embedder(Protocol):
    """Texts in, vectors out. One call is one request: no retries inside."""

    @property
    def model(self) -> str:
        """The model's name, as in the price list and the embedding set."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    @property
    def max_batch_items(self) -> int:
        """Texts one call may carry."""
        ...

    async def embed(
        self, texts: Sequence[str], *, role: Literal["question", "passage"]
    ) -> Embedded:
        """Vectors of `texts` (at least one, none of them empty).

        Raises:
            ModelUnavailable, ModelRefused, ModelAnswerInvalid.
        """
        ...


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of the answer's text, never empty; reasoning is left out."""

    text: str


@dataclass(frozen=True, slots=True)
class ChatEnd:
    """The last event of a whole answer.

    Args:
        finish_reason: "stop", "length", ... as the provider said.
        usage: what the provider reported, or an estimate.
    """

    finish_reason: str
    usage: TokenUsage


class ChatModel(Protocol):
    """Messages in, a streamed text out. One call is one request: no retries inside."""

    @property
    def model(self) -> str:
        """The model's name, as in the price list."""
        ...

    def stream(
        self, messages: Sequence[Message], *, max_tokens: int
    ) -> AsyncGenerator[ChatDelta | ChatEnd, None]:
        """The answer as it is generated; `ChatEnd` comes last, exactly once.

        Closing it (`contextlib.aclosing`, `aclose`) ends the provider's call.

        Raises:
            ModelUnavailable, ModelRefused: before the first delta.
            ModelCut: the stream broke off, stalled or ended without a finish reason; `usage`
                holds what was counted until then.
            ModelAnswerInvalid: it ended without any text; `usage` as reported.
        """
        ...


@dataclass(frozen=True, slots=True)
class Reranked:
    """A score for each text, in the order of the texts; higher is better, the scale is its own."""

    scores: tuple[float, ...]
    usage: TokenUsage


class Reranker(Protocol):
    """How well texts answer a question. One call is one request: no retries inside."""

    @property
    def model(self) -> str:
        """The model's name, as in the price list."""
        ...

    async def rerank(self, question: str, texts: Sequence[str]) -> Reranked:
        """A finite score for each text (at least one).

        Raises:
            ModelUnavailable, ModelRefused, ModelAnswerInvalid.
        """
        ...
