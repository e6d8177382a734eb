"""Recordings made here."""

import io
import wave

import numpy as np
import numpy.typing as npt

_RATE = 16_000
Samples = npt.NDArray[np.int16]


def tone(seconds: float, rate: int = _RATE) -> Samples:
    samples: Samples = (np.sin(np.arange(int(seconds * rate)) * 0.2) * 10_000).astype(np.int16)
    return samples


def wav(samples: Samples, rate: int = _RATE, channels: int = 1) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return out.getvalue()
