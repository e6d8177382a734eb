"""The process that speaks English: started by `local` for one request.

Argument: the parent's process id. On the standard input is a JSON array of [text, speed, rate in
hertz that it is played at]; it prints a MessagePack array of as many WAV files.
"""

import io
import json
import os
import sys
import wave

import msgspec
import numpy as np
from hibari import Hibari

from adapters.extraction.confinement import allow_cpu, confine

_MEMORY_BYTES = 2 << 30
_CPU_S = 200
_FULL_SCALE = 32_767
_NICENESS = 5


def main() -> None:
    """Read what is asked for, speak it, print it."""
    out = os.fdopen(os.dup(1), "wb")
    # Whatever a library prints must not get into the answer.
    os.dup2(2, 1)
    # While there is one thread alone: later the network could not be taken away.
    confine(int(sys.argv[1]), memory_bytes=_MEMORY_BYTES, starts_threads=True)
    allow_cpu(_CPU_S)
    # Speaking may wait; pages and searches may not.
    os.nice(_NICENESS)
    voice = Hibari(threads=1)
    asked = json.load(sys.stdin)
    out.write(msgspec.msgpack.encode([_wav(voice, *line) for line in asked]))
    out.close()


def _wav(voice: Hibari, text: str, speed: float, rate: int) -> bytes:
    samples = np.clip(voice(text, speed=speed, seed=0), -1, 1) * _FULL_SCALE
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return out.getvalue()


if __name__ == "__main__":
    main()
