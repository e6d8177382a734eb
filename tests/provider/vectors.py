"""Cheap vectors that mean something: hashed word stems, so that texts sharing words are near."""

import hashlib
import re
import zlib

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]
_WORD = re.compile(r"\w{2,}")
_STEM_LENGTH = 6
_CACHED_TEXTS = 20_000


class _Hashes(dict[str, int]):
    """The CRC-32 of each word's first letters, which serve as a stem in German and English."""

    def __missing__(self, word: str) -> int:
        code = zlib.crc32(word[:_STEM_LENGTH].encode())
        # Longer words are rarer and say more; their length travels in the lowest bits.
        code = (code & ~0xF) | min(len(word), 15)
        self[word] = code
        return code


class Vectors:
    """Texts to unit vectors, the same ones in every process; remembers the texts it has seen."""

    def __init__(self) -> None:
        self._hashes = _Hashes()
        self._seen: dict[tuple[bytes, int], Vector] = {}

    def of(self, text: str, dimension: int) -> Vector:
        key = (hashlib.sha1(text.encode()).digest(), dimension)
        found = self._seen.get(key)
        if found is None:
            if len(self._seen) >= _CACHED_TEXTS:
                self._seen.clear()
            found = self._seen[key] = self._make(text, dimension)
        return found

    def _make(self, text: str, dimension: int) -> Vector:
        words = _WORD.findall(text.lower()) or [text]
        codes = np.fromiter(map(self._hashes.__getitem__, words), np.int64, len(words))
        weights = (codes & 0xF) ** 2 * np.where(codes & 0x10, 1.0, -1.0)
        sums = np.bincount((codes >> 5) % dimension, weights, dimension)
        damped = np.sign(sums) * np.sqrt(np.abs(sums))
        if not damped.any():
            damped[0] = 1.0
        return np.asarray(damped / np.linalg.norm(damped), np.float32)


def overlap(question: str, text: str) -> Vector:
    """The share of a question's word stems that a text has, and a little for being short."""
    asked, held = _stems(question), _stems(text)
    share = len(asked & held) / max(len(asked), 1)
    return np.array([share + 0.01 / (1 + len(held))], np.float32)


def _stems(text: str) -> set[str]:
    return {word[:_STEM_LENGTH] for word in _WORD.findall(text.lower())}
