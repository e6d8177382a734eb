"""Recordings made here."""

import io
import wave

import av
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


def encoded(container: str, codec: str, seconds: float = 2.0, rate: int = 48_000) -> bytes:
    """A tone in any format that FFmpeg writes."""
    out = io.BytesIO()
    options = {"live": "1"} if container == "webm" else {}
    with av.open(out, "w", format=container, options=options) as file:
        stream = file.add_stream(codec, rate=rate, layout="stereo", options={"strict": "-2"})
        assert isinstance(stream, av.AudioStream)
        sample_format = stream.codec_context.format
        assert sample_format is not None
        resampler = av.AudioResampler(
            format=sample_format.name,
            layout="stereo",
            rate=rate,
            frame_size=stream.codec_context.frame_size or 1024,
        )
        samples = tone(seconds, rate=rate).reshape(1, -1)
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate = rate
        for piece in (*resampler.resample(frame), *resampler.resample(None)):
            file.mux(stream.encode(piece))
        file.mux(stream.encode(None))
    return out.getvalue()
