"""Speech against a ledger in memory."""

from decimal import Decimal
from typing import cast

import pytest

from domain.errors import ModelAnswerInvalid, ModelCut, ModelUnavailable, OutOfCredit
from domain.metering import Meter
from domain.prices import NoPrice, PriceList
from domain.speaking import MeteredSpeech
from domain.speech import VOICES, Line, SpeechLimits
from domain.stores import UnitOfWork
from domain.usage import CallStatus, Price, TokenUsage
from tests.domain.test_metering import PAYER, Books, Script
from tests.made_speech import MadeSpeech

LINES = (Line(VOICES[0], "Guten Tag."),)
PRICES = PriceList({"made-voice": Price(Decimal(0), characters_per_million=Decimal(15))})


def metered(speech: MadeSpeech, books: Books, prices: PriceList = PRICES) -> MeteredSpeech:
    return MeteredSpeech(speech, Meter(prices, cast("UnitOfWork", books.uow), Script([])))


def billed(books: Books) -> list[tuple[CallStatus, int]]:
    return [(end.status, end.usage.characters) for end in books.calls.values() if end]


async def test_a_call_is_billed_by_its_characters() -> None:
    books = Books()
    spoken = await metered(MadeSpeech(), books).speak(LINES, PAYER)
    assert spoken.audio
    assert billed(books) == [(CallStatus.SERVED, 10)]


async def test_what_was_not_served_costs_nothing_and_is_tried_again() -> None:
    books, speech = Books(), MadeSpeech(steps=[ModelUnavailable("Busy."), None])
    await metered(speech, books).speak(LINES, PAYER)
    assert billed(books) == [(CallStatus.FAILED, 0), (CallStatus.SERVED, 10)]


async def test_what_may_have_been_billed_is_not_made_again_unasked() -> None:
    books = Books()
    speech = MadeSpeech(steps=[ModelUnavailable("No answer.", may_be_billed=True)])
    with pytest.raises(ModelCut, match="not made again"):
        await metered(speech, books).speak(LINES, PAYER)
    assert billed(books) == [(CallStatus.CUT, 10)]
    assert len(speech.spoken) == 1


async def test_an_answer_that_cannot_be_used_was_paid_for_and_is_asked_for_once_more() -> None:
    books, used = Books(), TokenUsage(0, characters=10)
    speech = MadeSpeech(steps=[ModelAnswerInvalid("Short.", usage=used)] * 2)
    with pytest.raises(ModelAnswerInvalid):
        await metered(speech, books).speak(LINES, PAYER)
    assert billed(books) == [(CallStatus.SERVED, 10)] * 2


async def test_without_credit_nobody_speaks() -> None:
    speech = MadeSpeech()
    with pytest.raises(OutOfCredit):
        await metered(speech, Books(credit=0)).speak(LINES, PAYER)
    assert not speech.spoken


def test_the_most_that_a_text_may_cost_is_known_before() -> None:
    speech = MadeSpeech(limits=SpeechLimits(10, 1, several_voices=False))
    assert metered(speech, Books()).most_cost(LINES * 2) == Decimal("0.0003")
    with pytest.raises(NoPrice, match=r"made-voice.*characters_per_million"):
        metered(speech, Books(), PriceList({"made-voice": Price(Decimal(1))})).most_cost(LINES)
