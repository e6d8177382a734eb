"""The process that opens recordings: started by `sound_process`, for one request, within limits.

Arguments: the parent's process id, "probe", "mp3" or "join", the descriptor of the recording. For
"mp3" also that of the file to write, the bits per second and the most seconds; for "join", where
the recording is many in one file, that of the file to write, the most seconds, and how many bytes
each has. It prints a JSON object.
"""

import io
import json
import math
import os
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import BinaryIO, Self

import av
from av.container import InputContainer

from adapters.extraction.confinement import allow_cpu, confine

_MEMORY_BYTES = 512 << 20
_MOST_WRITTEN_BYTES = 64 << 20
_CPU_S = {"probe": 110, "mp3": 300, "join": 300}
_FORMATS = "mp3,wav,w64,aac,flac,ogg,matroska,webm,mov,mp4,m4a,3gp,3g2,mj2"
_LOUD = 0.01
"""Of full scale: once something is as loud, a recording is not silent."""
_RATE = 16_000
_JOINED_RATE, _JOINED_BITS_PER_S = 24_000, 96_000
_LONGEST_PACKET_S = 60
_NO_SOUND = "This file holds no sound. Add a recording."
_DAMAGED = "This recording is damaged: no sound in it can be decoded. Save it anew and add that."


class Unhearable(Exception):
    """The file is no recording that can be opened; says why."""


def main() -> None:
    """Do what the arguments ask for."""
    parent, request, source, *more = sys.argv[1:]
    recording = os.fdopen(int(source), "rb")
    target = os.fdopen(int(more[0]), "wb") if more else None
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever a library prints must not get into the answer.
    os.dup2(2, 1)
    confine(int(parent), memory_bytes=_MEMORY_BYTES, written_bytes=_MOST_WRITTEN_BYTES)
    allow_cpu(_CPU_S[request])
    try:
        if target is None:
            answer = probe(recording)
        else:
            numbers = map(int, more[1:])
            with target:
                if request == "mp3":
                    answer = convert(recording, target, *numbers)
                else:
                    answer = join(recording, target, *numbers)
    except Unhearable as error:
        answer = {"error": str(error)}
    except (av.error.FFmpegError, ValueError, IndexError):
        answer = {"error": _DAMAGED}
    except MemoryError:
        answer = {"error": "This recording needs more memory than reading one may take."}
    json.dump(answer, out)
    out.close()


def probe(recording: BinaryIO) -> dict[str, object]:
    """Format, length and loudness, as `domain.sound.Sound` has them."""
    with _opened(recording) as container:
        stream = _stream(container)
        length, loudest, decoded = _Length(stream.time_base), 0.0, False
        for packet in _packets(container, stream):
            length.add(packet)
            if loudest < _LOUD:
                for frame in _frames(packet):
                    decoded = True
                    loudest = max(loudest, _peak(frame))
        if not decoded:
            raise Unhearable(_DAMAGED)
        return {
            "format": _format(container, stream),
            "seconds": length.seconds,
            "loudest_db": 20 * math.log10(max(loudest, 1e-9)),
        }


def convert(
    recording: BinaryIO, target: BinaryIO, bits_per_s: int, most_seconds: int
) -> dict[str, object]:
    """The recording as mono MP3 at 16 kHz."""
    with _Mp3(target, _RATE, bits_per_s, most_seconds) as mp3:
        mp3.add(recording)
    return {}


def join(
    recordings: BinaryIO, target: BinaryIO, most_seconds: int, *lengths: int
) -> dict[str, object]:
    """The recordings, which stand one behind the other, as one mono MP3 at 24 kHz."""
    with _Mp3(target, _JOINED_RATE, _JOINED_BITS_PER_S, most_seconds) as mp3:
        for length in lengths:
            mp3.add(io.BytesIO(recordings.read(length)))
    return {"seconds": mp3.samples / _JOINED_RATE}


class _Mp3:
    """A mono MP3 that is being written."""

    def __init__(self, target: BinaryIO, rate: int, bits_per_s: int, most_seconds: int) -> None:
        self._file = av.open(target, "w", format="mp3")
        self._sound = self._file.add_stream("libmp3lame", rate=rate, layout="mono")
        self._sound.bit_rate = bits_per_s
        self._rate, self._most_seconds = rate, most_seconds
        self.samples = 0

    def add(self, recording: BinaryIO) -> None:
        """All of a recording, behind what is there."""
        before = self.samples
        with _opened(recording) as container:
            for frame in _mono(
                container, _stream(container), self._sound.codec_context.format.name, self._rate
            ):
                # Gaps and jumps of the original's clock are none of the encoder's.
                frame.pts, frame.time_base = self.samples, Fraction(1, self._rate)
                self.samples += frame.samples
                if self.samples > self._most_seconds * self._rate:
                    hours = f"{self._most_seconds / 3600:g} hours"
                    raise Unhearable(f"This recording lasts longer than {hours}.")
                self._file.mux(self._sound.encode(frame))
        if self.samples == before:
            raise Unhearable(_DAMAGED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is None:
            self._file.mux(self._sound.encode(None))
        self._file.close()


def _opened(recording: BinaryIO) -> InputContainer:
    return av.open(
        recording, "r", metadata_errors="replace", options={"format_whitelist": _FORMATS}
    )


def _stream(container: InputContainer) -> av.AudioStream:
    if not container.streams.audio:
        raise Unhearable(_NO_SOUND)
    stream = container.streams.audio[0]
    stream.codec_context.thread_count = 1
    return stream


def _format(container: InputContainer, stream: av.AudioStream) -> str:
    """Its container; where a service may not take what is inside, that: "adpcm_ima_wav"."""
    name, codec = container.format.name.partition(",")[0], stream.codec_context.name
    usual = {"mp3": "mp3", "wav": "pcm_"}
    return name if codec.startswith(usual.get(name, "")) else codec


class _Length:
    """How long packets last: by their own durations, else by their time stamps."""

    def __init__(self, time_base: Fraction | None) -> None:
        self._time_base = time_base or Fraction(1, 1_000)
        self._first: int | None = None
        self._total, self._last, self._all_timed = 0, 0, True

    def add(self, packet: "av.Packet[av.AudioStream]") -> None:
        duration = packet.duration or 0
        if duration * self._time_base > _LONGEST_PACKET_S:  # nonsense, as some last ones say
            duration = 0
        self._total += duration
        self._all_timed &= duration > 0
        if packet.pts is not None:
            self._first = packet.pts if self._first is None else min(self._first, packet.pts)
            self._last = max(self._last, packet.pts + duration)

    @property
    def seconds(self) -> float:
        stamped = self._last - (self._first or 0)
        return float(
            (self._total if self._all_timed else max(self._total, stamped)) * self._time_base
        )


def _packets(
    container: InputContainer, stream: av.AudioStream
) -> Iterator["av.Packet[av.AudioStream]"]:
    """Those of the stream; a file that breaks off ends where it does."""
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets, None)
        except av.error.FFmpegError:
            return
        if packet is None:
            return
        if packet.size:
            yield packet


def _frames(packet: "av.Packet[av.AudioStream]") -> list[av.AudioFrame]:
    """What it decodes to; nothing where it is damaged."""
    try:
        return packet.stream.decode(packet)
    except av.error.FFmpegError:
        return []


def _peak(frame: av.AudioFrame) -> float:
    """Its loudest sample of any channel, 1 being full scale; channels that cancel out are loud."""
    samples = frame.to_ndarray()
    if not samples.size:
        return 0.0
    least, most = float(samples.min()), float(samples.max())
    full = 2.0 ** (8 * samples.itemsize - 1)
    match samples.dtype.kind:
        case "u":  # silence is the middle
            return max(most - full, full - least) / full
        case "i":
            return max(most, -least) / full
        case _:
            return max(most, -least)


def _mono(
    container: InputContainer, stream: av.AudioStream, sample_format: str, rate: int
) -> Iterator[av.AudioFrame]:
    """The sound at that rate in one channel."""
    resampler, shape = None, None
    for packet in _packets(container, stream):
        for frame in _frames(packet):
            now = frame.format.name, frame.layout.name, frame.sample_rate
            if resampler is None or now != shape:
                if resampler is not None:
                    yield from resampler.resample(None)
                resampler = av.AudioResampler(format=sample_format, layout="mono", rate=rate)
                shape = now
            frame.pts = None
            yield from resampler.resample(frame)
    if resampler is not None:
        yield from resampler.resample(None)


if __name__ == "__main__":
    main()
