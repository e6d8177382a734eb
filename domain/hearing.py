"""Recordings -> passages: one billed call to a model that hears."""

import io
from dataclasses import dataclass, replace
from decimal import ROUND_UP, Decimal

from domain.capture import Attempt, Superseded, transcribe_once
from domain.errors import (
    ModelAnswerInvalid,
    ModelCut,
    ModelUnavailable,
    NotSetUp,
    TooLarge,
    Unreadable,
)
from domain.metering import Call, Meter
from domain.passage import Passage
from domain.ports import BlobStore, OpenSound, SoundReader, Transcriber
from domain.sound import MOST_SENT_BYTES, Sound, bits_per_s, require_hearable
from domain.source import Progress, Reading, Source, Stage
from domain.stores import UnitOfWork
from domain.text_gate import clean
from domain.transcript import Transcript
from domain.usage import CallKind, TokenUsage

_NO_EARS = (
    "Nothing here transcribes recordings: set STT_MODEL with STT_API_KEY or STT_BASE_URL, or"
    " install beleg[speech], and press Retry."
)
_NO_SPEECH = (
    "No speech was heard in this recording. The call that listened to it stays billed; add a"
    " recording in which somebody speaks."
)


@dataclass(frozen=True, slots=True)
class Hearing:
    """The `Capture` port for recordings.

    Args:
        transcriber: None where nothing here transcribes.
    """

    uow: UnitOfWork
    blobs: BlobStore
    sounds: SoundReader
    transcriber: Transcriber | None
    meter: Meter

    async def __call__(self, attempt: Attempt) -> Reading:
        """See `Capture`. What was converted, and what was paid for, is found again."""
        if self.transcriber is None:
            raise NotSetUp(_NO_EARS)
        part = f"sound:{self.transcriber.model}"
        async with self.uow() as tx:
            paid = await tx.transcripts.paid(attempt.source.id)
        heard = paid.get(attempt.key(part)) or await self._heard(attempt, part, self.transcriber)
        if not heard.text:
            raise Unreadable(_NO_SPEECH)
        return Reading((Passage(0, None, heard.text),), None)

    async def _heard(self, attempt: Attempt, part: str, transcriber: Transcriber) -> Transcript:
        content, sound = await self._to_send(attempt.source)
        seconds = int(sound.seconds.to_integral_value(ROUND_UP))
        bound = TokenUsage(0, estimated=True, seconds=Decimal(seconds + 1))
        call = Call(CallKind.STT, transcriber.model, bound, attempt.payer)

        async def on_progress(heard_s: float) -> None:
            await attempt.show(Progress(Stage.LISTENING, min(int(heard_s), seconds), seconds))

        async def make() -> Transcript:
            heard = await transcriber.transcribe(content, sound, on_progress=on_progress)
            return replace(heard, text=clean(heard.text).strip())

        await on_progress(0)
        try:
            return await transcribe_once(self.meter, attempt, part, call, make, tries=1)
        except ModelAnswerInvalid as error:
            raise ModelCut(f"{error.message} The call stays billed.") from error
        except ModelUnavailable as error:
            if not error.may_be_billed:
                raise
            # Too dear to be made again unasked.
            raise ModelCut(
                f"{error.message} The call may have been billed, so it was not made again."
                " Press Retry to make another one."
            ) from error

    async def _to_send(self, source: Source) -> tuple[bytes, Sound]:
        """What is sent, as it was uploaded or converted; a converted one is kept."""
        if not await self.blobs.has(source.mp3_key):
            async with self.sounds.opened(self.blobs.stream(source.blob_key)) as recording:
                require_hearable(recording.sound)
                if recording.sound.goes_as_it_is:
                    return await recording.content(), recording.sound
                await self._convert(source, recording)
        async with self.sounds.opened(self.blobs.stream(source.mp3_key)) as recording:
            # What the original says about its length may be wrong.
            require_hearable(recording.sound)
            return await recording.content(), recording.sound

    async def _convert(self, source: Source, recording: OpenSound) -> None:
        mp3 = await recording.as_mp3(bits_per_s(recording.sound.seconds))
        if len(mp3) > MOST_SENT_BYTES:
            raise TooLarge(
                f"This recording has {len(mp3) / 1e6:.1f} MB as MP3;"
                f" {MOST_SENT_BYTES / 1e6:.1f} MB is the limit. Split it and add the parts."
            )
        async with self.uow() as tx:
            await tx.sources.hold_blob(source.owner_id, source.sha256)
            # Who deletes the source deletes what is derived from it, and comes before or after.
            if not await tx.sources.needs_blob(source.owner_id, source.sha256):
                raise Superseded
            await self.blobs.put(source.mp3_key, io.BytesIO(mp3))
