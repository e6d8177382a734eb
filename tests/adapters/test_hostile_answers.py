"""Answers that are endless, packed, elsewhere or absurd: each ends soon, and says so."""

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from decimal import Decimal

import pytest

from adapters.bounded_http import open_bounded
from adapters.extraction.sound_process import SoundProcesses
from adapters.inference.chat import ChatTimeouts, OpenAIChatModel
from adapters.inference.embedder import EmbeddingHabits, OpenAIEmbedder
from adapters.inference.openai_client import Client, open_client
from adapters.inference.transcriber import OpenAITranscriber
from adapters.inference.vision import OpenAIVision
from adapters.speech.openai import OpenAISpeech
from adapters.speech.recording import SpeechHabits
from adapters.speech.request import answer_to
from domain.conversation import Message, Role
from domain.errors import ModelCut, ModelRefused, ModelUnavailable, is_unsent
from domain.ports import ChatEnd, Picture, Seen
from domain.sound import Sound
from domain.speech import VOICES, Line
from domain.usage import TokenUsage
from tests.adapters.inference_contracts import everything, text_of

MOST = 1_000_000
ASKED = [Message(Role.USER, "Wer wählt den Bundespräsidenten?")]
Writes = Callable[[asyncio.StreamWriter], Awaitable[None]]


def answering(body: bytes, status: int = 200, *headers: str) -> Writes:
    """One whole answer."""
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", *headers, "", ""]

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write("\r\n".join(lines).encode() + body)
        await writer.drain()

    return write


def endless(piece: bytes, status: int = 200) -> Writes:
    """One answer that goes on for ever."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(f"HTTP/1.1 {status} X\r\ntransfer-encoding: chunked\r\n\r\n".encode())
        while True:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()

    return write


async def silence(_: asyncio.StreamWriter) -> None:
    """No answer."""


def event(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def told(text: str, reason: str | None = None) -> bytes:
    return event({"choices": [{"delta": {"content": text}, "finish_reason": reason}]})


@asynccontextmanager
async def serving(write: Writes) -> AsyncIterator[str]:
    """The base URL of a server that answers everything so."""

    served: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if task := asyncio.current_task():
            served.add(task)
        with suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            await write(writer)
            await reader.read()
        writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1")
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        await asyncio.gather(*served)


@asynccontextmanager
async def client_of(write: Writes) -> AsyncIterator[Client]:
    async with serving(write) as url, open_client(url, "key", most_bytes=MOST) as client:
        yield client


def chat(client: Client) -> OpenAIChatModel:
    return OpenAIChatModel(client, "m", timeouts=ChatTimeouts(5, 5, 10))


async def embed(client: Client) -> TokenUsage:
    embedder = OpenAIEmbedder(client, "m", 2, EmbeddingHabits(timeout_s=5))
    return (await embedder.embed(["Hund"], role="passage")).usage


@pytest.mark.parametrize("status", [200, 500])
async def test_vectors_that_never_end_are_given_up(status: int) -> None:
    async with client_of(endless(b" " * 65_536, status)) as client:
        with pytest.raises(ModelUnavailable, match="more than 1 MB") as caught:
            await embed(client)
    assert caught.value.may_be_billed


async def test_a_recording_that_never_ends_is_given_up() -> None:
    async with client_of(endless(b"\xff\xfb\x90\x00" * 16_384)) as client:
        speech = OpenAISpeech(client, SpeechHabits("m", {}, 5.0), SoundProcesses())
        with pytest.raises(ModelUnavailable, match="more than 1 MB"):
            await speech.speak([Line(VOICES[0], "Guten Tag.")])


async def test_an_answer_that_never_ends_is_given_up_without_an_sdk() -> None:
    async with serving(endless(b"x" * 65_536)) as url, open_bounded(url, most_bytes=MOST) as http:
        with pytest.raises(ModelUnavailable, match="more than 1 MB"):
            await answer_to(http, "/speech", b"", "text/plain", timeout_s=5)


async def test_an_event_that_never_ends_is_given_up() -> None:
    async with client_of(endless(b"data: " + b"x" * 65_536)) as client:
        with pytest.raises(ModelUnavailable, match="more than 1 MB"):
            await everything(chat(client), ASKED, max_tokens=10_000)


async def test_a_model_that_writes_on_past_its_limit_is_cut() -> None:
    async with client_of(endless(told("blah " * 20))) as client:
        with pytest.raises(ModelCut, match="past the most") as caught:
            await everything(chat(client), ASKED, max_tokens=100)
    assert caught.value.usage
    assert 3_000 < caught.value.usage.output_tokens < 3_300


async def test_an_answer_that_is_packed_is_not_unpacked() -> None:
    packed = answering(gzip.compress(bytes(10 * MOST)), 200, "content-encoding: gzip")
    async with client_of(packed) as client:
        with pytest.raises(ModelUnavailable, match="packed its answer"):
            await embed(client)


async def test_nothing_is_sent_where_a_redirection_points() -> None:
    async with serving(answering(b"{}")) as elsewhere:
        moved = answering(b"", 307, f"location: {elsewhere}/embeddings")
        async with client_of(moved) as client:
            with pytest.raises(ModelRefused, match=r"elsewhere .* Check the base URL"):
                await embed(client)


async def test_halves_of_a_character_are_counted_and_told() -> None:
    halves = answering(told("\ud83d") + told("\ude00") + told("", "stop"))
    async with client_of(halves) as client:
        events = await everything(chat(client), ASKED, max_tokens=100)
    assert text_of(events) == "\ud83d\ude00"


async def test_what_is_nested_without_end_is_no_answer() -> None:
    async with client_of(answering(b"data: " + b"[" * 100_000 + b"\n\n")) as client:
        with pytest.raises(ModelUnavailable, match="not its API"):
            await everything(chat(client), ASKED, max_tokens=100)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}])
async def test_a_usage_without_numbers_is_estimated(usage: dict[str, None] | None) -> None:
    rows = [{"index": 0, "embedding": [3, 4]}]
    body = json.dumps({"data": rows, "usage": usage}).encode()
    async with client_of(answering(body)) as client:
        assert await embed(client) == TokenUsage(1, estimated=True)
    read = {"choices": [{"message": {"content": "Halt!"}, "finish_reason": "stop"}], "usage": usage}
    seen = answering(json.dumps(read).encode(), 200, "content-type: application/json")
    async with client_of(seen) as client:
        picture = Picture(b"png", "image/png", 14, 14)
        assert (await OpenAIVision(client, "m").transcribe(picture, Seen.PAGE)).usage.estimated
    last = event({"choices": [], "usage": usage})
    async with client_of(answering(told("Ja.", "stop") + last)) as client:
        *_, end = await everything(chat(client), ASKED, max_tokens=100)
    assert isinstance(end, ChatEnd)
    assert end.usage == TokenUsage(9, 1, estimated=True)


@asynccontextmanager
async def nobody_listening() -> AsyncIterator[Client]:
    """A client of a machine that lets nobody connect, and refuses nobody."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.socket() as first:
        first.connect(full.getsockname())
        async with open_client(f"http://127.0.0.1:{full.getsockname()[1]}/v1", "key") as client:
            yield client


async def cancelled(embedding: Awaitable[TokenUsage]) -> asyncio.CancelledError:
    calling = asyncio.ensure_future(embedding)
    await asyncio.sleep(0.1)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError) as caught:
        await calling
    return caught.value


async def test_of_a_cancelled_call_it_is_known_whether_it_was_sent() -> None:
    async with nobody_listening() as client:
        assert is_unsent(await cancelled(embed(client)))
    async with client_of(silence) as client:
        assert not is_unsent(await cancelled(embed(client)))


async def test_a_call_that_is_late_before_it_is_sent_costs_nothing() -> None:
    async with nobody_listening() as client:
        embedder = OpenAIEmbedder(client, "m", 2, EmbeddingHabits(timeout_s=0.1))
        with pytest.raises(ModelUnavailable, match="took too long") as caught:
            await embedder.embed(["Hund"], role="passage")
    assert not caught.value.may_be_billed


@pytest.mark.parametrize("seconds", ["1e300", "-1", "1e10"])
async def test_a_recording_of_no_possible_length_counts_as_long_as_it_is(seconds: str) -> None:
    async def unheard(_: float) -> None:
        raise AssertionError

    sound = Sound("mp3", Decimal(10), -10.0, 3)
    body = b'{"text": "Ja.", "duration": %b}' % seconds.encode()
    async with client_of(answering(body)) as client:
        heard = await OpenAITranscriber(client, "m", 5).transcribe(
            b"mp3", sound, on_progress=unheard
        )
    assert heard.usage == TokenUsage(0, estimated=True, seconds=Decimal(10))
