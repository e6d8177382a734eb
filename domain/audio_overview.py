"""Audio overviews: excerpts -> a script -> recordings -> one MP3."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from domain.document import Document, DocumentProgress, DocumentStage
from domain.errors import Conflict, ModelAnswerInvalid, NotSetUp
from domain.excerpts import Excerpt, excerpts, parts_of
from domain.making import Attempt, Drafting, Made
from domain.overview_prompt import messages
from domain.overview_script import Script, kept_script, script_of
from domain.ports import SoundJoiner
from domain.sound import Mp3
from domain.speaking import MeteredSpeech
from domain.speech import Line, Spoken, require_whole, voice_named
from domain.stores import Stores, UnitOfWork
from domain.usage import TokenUsage

ROOM = 24_000
"""Code points of the sources that go into a script."""
_NOTHING_LEFT = (
    "The sources that this was to be made from were deleted, or hold no text. Delete it, and make"
    " another one."
)
_NO_WRITER = "No model writes here: set LLM_MODEL with INFERENCE_API_KEY, and press Retry."
_NO_VOICE = "Nothing here reads aloud: set TTS_PROVIDER, and press Retry."


@dataclass(frozen=True, slots=True)
class AudioOverview:
    """The `Maker` of audio overviews.

    Args:
        drafting: None where no model writes.
        speech: None where nothing reads aloud.
    """

    uow: UnitOfWork
    drafting: Drafting | None
    speech: MeteredSpeech | None
    joiner: SoundJoiner

    async def __call__(self, attempt: Attempt) -> Made:
        """See `Maker`."""
        if self.drafting is None:
            raise NotSetUp(_NO_WRITER)
        if self.speech is None:
            raise NotSetUp(_NO_VOICE)
        voices = [voice_named(name) for name in attempt.document.voices]
        for voice in voices:
            if voice not in self.speech.speech.voices:
                raise NotSetUp(f"Nothing here speaks as {voice.name} any more. Make another one.")
        script = await self._script(attempt, self.drafting)
        lines = script.lines(voices)
        parts = await self._spoken(attempt, lines, self.speech)
        mp3 = await self._joined(attempt, lines, parts, self.speech.speech.model)
        text = "\n\n".join(said for _, said in script.spoken)
        return Made(text, mp3.content, mp3.seconds)

    async def _script(self, attempt: Attempt, drafting: Drafting) -> Script:
        """The script, kept to be read while it is spoken, and by later attempts."""
        document = attempt.document
        speakers = len(document.voices)
        if document.text is not None:
            kept = document.title, document.text, document.citations
            return kept_script(*kept, speakers=speakers)
        await attempt.show(DocumentProgress(DocumentStage.WRITING, 0, 1))
        found = await self._excerpts(document)
        if not found:
            raise Conflict(_NOTHING_LEFT)

        def read(draft: str) -> Script:
            return script_of(draft, found, speakers=speakers)

        script = await drafting(attempt, messages(document, found), read)
        async with self.uow() as tx:
            await attempt.require(tx)
            await tx.documents.keep_text(document.id, script.title, script.text, script.citations)
        return script

    async def _excerpts(self, document: Document) -> list[Excerpt]:
        async with self.uow() as tx:
            parts = parts_of(await tx.documents.pieces(document.source_ids), ROOM)
            texts = await tx.documents.texts({part.piece.chunk_id for part in parts})
        return excerpts(parts, texts)

    async def _spoken(
        self, attempt: Attempt, lines: Sequence[Line], speech: MeteredSpeech
    ) -> list[bytes]:
        """The recordings in order. Each is kept as it is paid for, and progress with it."""
        requests = speech.requests(lines)
        keys = [_hash(speech.speech.model, request) for request in requests]
        async with self.uow() as tx:
            paid = dict(await tx.documents.speech(attempt.document.id))
        await attempt.show(_progress(keys, paid))
        for key, request in zip(keys, requests, strict=True):
            if key not in paid:
                paid[key] = await self._read_aloud(attempt, key, request, speech)
                await attempt.show(_progress(keys, paid))
        return [paid[key] for key in keys]

    async def _joined(
        self, attempt: Attempt, lines: Sequence[Line], parts: Sequence[bytes], model: str
    ) -> Mp3:
        """The recordings as one; where they are too short together, a retry makes them anew."""
        await attempt.show(DocumentProgress(DocumentStage.JOINING, 0, 1))
        mp3 = await self.joiner.joined(parts)
        try:
            require_whole(lines, mp3.seconds, TokenUsage(0), model)
        except ModelAnswerInvalid:
            async with self.uow() as tx:
                await attempt.require(tx)
                await tx.documents.forget_speech(attempt.document.id)
            raise
        return mp3

    @staticmethod
    async def _read_aloud(
        attempt: Attempt, key: bytes, request: Sequence[Line], speech: MeteredSpeech
    ) -> bytes:
        async def keep(tx: Stores, spoken: Spoken) -> None:
            await tx.documents.keep_speech(attempt.document.id, key, spoken.audio)

        spoken = await speech.speak(request, attempt.payer, before=attempt.require, after=keep)
        return spoken.audio


def _progress(keys: Sequence[bytes], paid: dict[bytes, bytes]) -> DocumentProgress:
    done = sum(key in paid for key in keys)
    return DocumentProgress(DocumentStage.SPEAKING, done, len(keys))


def _hash(model: str, request: Sequence[Line]) -> bytes:
    said = "\0".join(part for line in request for part in (line.voice.name, line.text))
    return hashlib.sha256(f"{model}\0{said}".encode()).digest()
