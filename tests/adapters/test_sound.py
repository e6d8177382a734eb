"""Recordings: probed and converted in processes of their own."""

import asyncio
import io
import os
import signal
import time
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import av
import numpy as np
import pytest

from adapters.extraction.sound_process import SoundProcesses
from domain.errors import BelegError, TooLarge, Unavailable, Unreadable
from domain.sound import MOST_SENT_BYTES, Sound, bits_per_s, require_hearable, sound_type
from tests.adapters.made_sound import encoded, tone, wav

_RATE = 16_000


async def blocks(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), 100_000):
        yield content[start : start + 100_000]


@pytest.fixture
def sounds() -> SoundProcesses:
    return SoundProcesses(size=2)


FORMATS = [
    ("wav", "pcm_s16le", "wav"),
    ("mp3", "libmp3lame", "mp3"),
    ("ipod", "aac", "mov"),
    ("adts", "aac", "aac"),
    ("ogg", "libopus", "ogg"),
    ("ogg", "vorbis", "ogg"),
    ("flac", "flac", "flac"),
    ("webm", "libopus", "matroska"),
]


@pytest.mark.parametrize(("container", "codec", "named"), FORMATS)
async def test_every_format_is_measured_and_converted(
    sounds: SoundProcesses, container: str, codec: str, named: str
) -> None:
    content = encoded(container, codec)
    async with sounds.opened(blocks(content)) as recording:
        assert recording.sound.format == named
        assert abs(recording.sound.seconds - 2) < Decimal("0.15")
        assert recording.sound.loudest_db > -20
        assert recording.sound.bytes == len(content)
        assert recording.sound.goes_as_it_is == (named in {"mp3", "wav"})
        assert await recording.content() == content
        mp3 = await recording.as_mp3(32_000)
    async with sounds.opened(blocks(mp3)) as converted:
        assert converted.sound.goes_as_it_is
        assert abs(converted.sound.seconds - 2) < Decimal("0.2")
    with av.open(io.BytesIO(mp3), "r") as file:
        stream = file.streams.audio[0]
        assert (stream.rate, stream.layout.name) == (16_000, "mono")


async def test_parts_of_any_kind_are_joined_to_one_mp3(sounds: SoundProcesses) -> None:
    parts = [
        *(wav(tone(1.5, rate=22_050), rate=22_050), encoded("mp3", "libmp3lame", 2.0)),
        *(encoded("mp3", "libmp3lame", 1.0, rate=44_100), encoded("ogg", "libopus", 0.5)),
    ]
    mp3 = await sounds.joined(parts)
    assert mp3.seconds == pytest.approx(5, abs=0.3)
    with av.open(io.BytesIO(mp3.content), "r") as file:
        stream = file.streams.audio[0]
        assert (stream.rate, stream.layout.name) == (24_000, "mono")
        assert stream.bit_rate == 96_000
    async with sounds.opened(blocks(mp3.content)) as joined:
        assert joined.sound.seconds == pytest.approx(mp3.seconds, abs=Decimal("0.1"))


async def test_ten_minutes_are_joined_in_seconds(sounds: SoundProcesses) -> None:
    part = (await sounds.joined([wav(tone(20, rate=24_000), rate=24_000)])).content
    began = time.monotonic()
    mp3 = await sounds.joined([part] * 30)
    assert mp3.seconds == pytest.approx(600, abs=5)
    assert time.monotonic() - began < 30


async def test_a_part_that_is_no_recording_joins_nothing(sounds: SoundProcesses) -> None:
    for broken in (b"", b"\0" * 5000, b'{"error": "busy"}'):
        with pytest.raises(Unreadable, match="damaged"):
            await sounds.joined([wav(tone(1)), broken])


async def test_a_wav_with_something_uncommon_inside_is_converted(sounds: SoundProcesses) -> None:
    async with sounds.opened(blocks(encoded("wav", "adpcm_ima_wav"))) as recording:
        assert not recording.sound.goes_as_it_is


async def test_a_long_wav_is_converted_and_small_then(sounds: SoundProcesses) -> None:
    content = wav(np.repeat(tone(140, rate=48_000), 2), rate=48_000, channels=2)
    assert len(content) > MOST_SENT_BYTES
    async with sounds.opened(blocks(content)) as recording:
        assert not recording.sound.goes_as_it_is
        assert len(await recording.as_mp3(bits_per_s(recording.sound.seconds))) < MOST_SENT_BYTES


async def test_silence_is_measured_and_channels_that_cancel_out_are_none(
    sounds: SoundProcesses,
) -> None:
    left = tone(1)
    for samples, channels, least, most in (
        (np.zeros(_RATE, np.int16), 1, -999.0, -100.0),
        (np.resize(np.array([0, 1, 0, -1], np.int16), _RATE), 1, -91.0, -90.0),
        (np.stack((left, -left), axis=1), 2, -20.0, 0.0),
    ):
        async with sounds.opened(blocks(wav(samples, channels=channels))) as recording:
            assert least < recording.sound.loudest_db < most


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 5000, b"ID3" + bytes(range(256)) * 40, b"RIFF\xff\xff\xff\xffWAVEfmt ", b"OggS"],
)
async def test_what_is_no_recording_is_refused_in_a_sentence(
    sounds: SoundProcesses, content: bytes
) -> None:
    with pytest.raises(Unreadable, match=r"^This recording .*\.$"):
        async with sounds.opened(blocks(content)):
            pass


async def test_a_playlist_opens_no_other_file(sounds: SoundProcesses, tmp_path: Path) -> None:
    other = tmp_path / "secret.wav"
    other.write_bytes(wav(tone(1)))
    for text in (f"#EXTM3U\n#EXTINF:1,\n{other}\n", f"ffconcat version 1.0\nfile '{other}'\n"):
        with pytest.raises(Unreadable):
            async with sounds.opened(blocks(text.encode())):
                pass


async def test_a_recording_that_breaks_off_is_read_as_far_as_it_goes(
    sounds: SoundProcesses,
) -> None:
    content = encoded("flac", "flac", seconds=4)
    async with sounds.opened(blocks(content[: len(content) // 2])) as recording:
        assert 1 < recording.sound.seconds < 3
        assert await recording.as_mp3(32_000)


async def test_a_process_that_is_ended_from_outside_may_be_tried_again(
    sounds: SoundProcesses,
) -> None:
    async def end_it() -> None:
        for _ in range(200):
            await asyncio.sleep(0.01)
            for pid in _children():
                os.kill(pid, signal.SIGKILL)
                return

    ending = asyncio.create_task(end_it())
    with pytest.raises(Unavailable):
        async with sounds.opened(blocks(wav(tone(1)))):
            pass
    await ending


async def test_a_cancelled_probe_leaves_no_process(sounds: SoundProcesses) -> None:
    silence = wav(np.zeros(_RATE * 3600, np.int16))

    async def probe() -> None:
        async with sounds.opened(blocks(silence)):
            pass

    task = asyncio.create_task(probe())
    async with asyncio.timeout(10):
        while not _children():  # noqa: ASYNC110 - another process tells nobody
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not _children()


def _children() -> list[int]:
    found = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [
        int(pid) for pid in found if b"sound_child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def _sound(seconds: int, loudest_db: float = -10.0) -> Sound:
    return Sound("mp3", Decimal(seconds), loudest_db, 1_000)


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"ID3\x04\0\0", "audio/mpeg"),
        (b"\xff\xfb\x90d", "audio/mpeg"),
        (b"\xff\xf1P\x80", "audio/aac"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
        (b"fLaC\0\0", "audio/flac"),
        (b"OggS\0\x02", "audio/ogg"),
        (b"\x1aE\xdf\xa3\x9f", "audio/webm"),
        (b"\0\0\0 ftypM4A ", "audio/mp4"),
        (b"\0\0\0 ftypheic", None),
        (b"ID3 tags name the artist.", None),
        (b"OggSquad, a story", None),
        (b"\xff\xfeH\0i\0", None),
        (b"RIFF\0\0\0\0WEBP", None),
        (b"", None),
    ],
)
def test_a_recording_is_told_by_its_first_bytes(head: bytes, told: str | None) -> None:
    assert sound_type(head) == told


def test_what_need_not_be_paid_for_is_refused() -> None:
    require_hearable(_sound(4 * 3600))
    require_hearable(_sound(5, -59.0))
    with pytest.raises(TooLarge, match=r"4:00:01 hours; 4:00:00 is the limit"):
        require_hearable(_sound(4 * 3600 + 1))
    with pytest.raises(Unreadable, match="silent"):
        require_hearable(_sound(7200, -61.0))


def test_the_rate_fits_the_length() -> None:
    rates = [bits_per_s(Decimal(seconds)) for seconds in (1, 3_000, 3_600, 7_200, 12_800, 14_400)]
    assert rates == [64_000, 64_000, 48_000, 24_000, 16_000, 8_000]
    for seconds, rate in zip((1, 3_000, 3_600, 7_200, 12_800, 14_400), rates, strict=True):
        assert seconds * rate / 8 < MOST_SENT_BYTES


OPEN_FILES = {
    "made-empty.wav": "empty",
    "silent_1s.wav": "silent",
    "made-2h-silence.flac": "silent",
}


async def test_the_open_recordings_are_read_or_refused_as_their_manifest_expects(
    sounds: SoundProcesses, shared_data: Path
) -> None:
    for path in sorted((shared_data / "media" / "audio").iterdir()):
        began = time.monotonic()
        try:
            async with sounds.opened(blocks(path.read_bytes())) as recording:
                require_hearable(recording.sound)
                said = ""
        except BelegError as error:
            said = error.message
        assert OPEN_FILES.get(path.name, "") in said, (path.name, said)
        assert bool(said) == (path.name in OPEN_FILES)
        assert time.monotonic() - began < 60
