"""Speech that is accounted for: each request a row of the ledger, by its characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from domain.errors import ModelCut, ModelUnavailable
from domain.metering import After, Before, Call, Meter, Payer
from domain.ports import Speech
from domain.speech import Line, Spoken, batches
from domain.usage import CallKind


@dataclass(frozen=True, slots=True)
class MeteredSpeech:
    """A voice whose every call is a row of the ledger."""

    speech: Speech
    meter: Meter

    def requests(self, lines: Sequence[Line]) -> list[tuple[Line, ...]]:
        """The calls that read `lines`, in order."""
        return batches(lines, self.speech.limits)

    def most_cost(self, lines: Sequence[Line]) -> Decimal:
        """USD that reading all of `lines` may cost."""
        price = self.meter.prices.of_speech(self.speech.model)
        bounds = map(self.speech.bound, self.requests(lines))
        return sum((price.cost(bound) for bound in bounds), Decimal(0))

    async def speak(
        self,
        request: Sequence[Line],
        payer: Payer,
        *,
        before: Before | None = None,
        after: After[Spoken] | None = None,
    ) -> Spoken:
        """One of `requests`, by `Meter.run`; see there.

        A call that may have been billed without an answer is not made again unasked.

        Raises:
            OutOfCredit: before anything is spent.
            ModelError: the last try's.
        """
        bound = self.speech.bound(request)

        async def make() -> Spoken:
            try:
                return await self.speech.speak(request)
            except ModelUnavailable as error:
                if not error.may_be_billed:
                    raise
                raise ModelCut(
                    f"{error.message} The call may have been billed, so it was not made again."
                    " Press Retry to make another one.",
                    usage=bound,
                ) from error

        call = Call(CallKind.TTS, self.speech.model, bound, payer)
        return await self.meter.run(call, make, before=before, after=after)
