"""What the providers' voices make of a text."""

import io
import wave
from functools import cache

import av
import numpy as np
import numpy.typing as npt

CHARS_A_S = 15
_RATE, _BITS_PER_S = 24_000, 96_000
_SECOND_BYTES = 42 * 288
"""As many frames as last a second, and the bytes of one."""


def recording(text: str) -> bytes:
    """An MP3 file of a tone, as many whole seconds as the text takes."""
    return _second() * -(-len(text) // CHARS_A_S)


def wav_of_a_second() -> bytes:
    """A second of the same as WAV."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE)
        file.writeframes(_tone().tobytes())
    return out.getvalue()


def _tone() -> npt.NDArray[np.int16]:
    tone: npt.NDArray[np.int16] = (np.sin(np.arange(_RATE) * 0.1) * 8_000).astype(np.int16)
    return tone


@cache
def _second() -> bytes:
    """A second of MP3. Its frames stand alone, so that files of it may follow each other."""
    out = io.BytesIO()
    options = {"write_xing": "0", "id3v2_version": "0"}
    with av.open(out, "w", format="mp3", options=options) as file:
        stream = file.add_stream(
            "libmp3lame", rate=_RATE, layout="mono", options={"reservoir": "0"}
        )
        stream.bit_rate = _BITS_PER_S
        frame = av.AudioFrame.from_ndarray(_tone().reshape(1, -1), format="s16p", layout="mono")
        frame.sample_rate = _RATE
        file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return out.getvalue()[:_SECOND_BYTES]
