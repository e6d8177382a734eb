"""Pictures read by tesseract, where it is installed: the reader that needs no key."""

import asyncio
import shutil
import subprocess
from dataclasses import dataclass

from adapters.child_processes import output_of
from domain.errors import ModelRefused, ModelUnavailable
from domain.ports import Picture, Seen
from domain.transcript import Transcript
from domain.usage import TokenUsage

TESSERACT = "tesseract"
_WANTED = ("deu", "eng")
_AT_ONCE = 2
_WALL_S = 110.0
_SURE, _GUESSED = 70.0, 45.0
"""Mean confidence: below the first a picture is tried upside down, below the second left out."""
_WORD_LEVEL = "5"
_TEXT_ALONE = "was read for its text alone: describing it needs a vision model (set VISION_MODEL)"
_UNREADABLE = "shows nothing that tesseract can read"
_FAILED = "tesseract could not read this picture. Upload it anew, or set up a vision model."


def installed_tesseract() -> "TesseractVision | None":
    """Tesseract with German and English, or with what it has; None where it is not installed."""
    program = shutil.which(TESSERACT)
    if program is None:
        return None
    listed = subprocess.run(  # noqa: S603 - a fixed program
        [program, "--list-langs"], capture_output=True, text=True, check=False, timeout=20
    )
    known = set(listed.stdout.split())
    languages = [language for language in _WANTED if language in known]
    return TesseractVision(program, "+".join(languages)) if languages else None


class TesseractVision:
    """The `Vision` port; each picture in a process of its own, within limits, for nothing.

    Args:
        program: its absolute path.
        languages: of its models, joined by "+".
    """

    model = TESSERACT
    dpi = 200

    def __init__(self, program: str, languages: str) -> None:
        self._command = [
            *(program, "stdin", "stdout", "-l", languages, "--psm", "1"),
            *("--dpi", str(self.dpi), "tsv"),
        ]
        self._turns = asyncio.Semaphore(_AT_ONCE)

    def bound(self, picture: Picture) -> TokenUsage:  # noqa: ARG002 - the port's
        """Nothing: no token is counted here."""
        return TokenUsage(0)

    async def transcribe(self, picture: Picture, seen: Seen) -> Transcript:
        """See the port. It describes nothing."""
        async with self._turns:
            found = await self._read(picture.content, "upright")
            if found.text and found.confidence < _SURE:
                # With few words on it, a page that is upside down passes for one that is not.
                turned = await self._read(picture.content, "turned")
                found = max(found, turned, key=lambda each: each.confidence)
        if found.text and found.confidence < _GUESSED:
            return Transcript("", TokenUsage(0), _UNREADABLE)
        problem = _TEXT_ALONE if seen is Seen.IMAGE and found.text else ""
        return Transcript(found.text, TokenUsage(0), problem)

    async def _read(self, content: bytes, way: str) -> "_Found":
        try:
            out = await output_of(
                "adapters.inference.tesseract_child",
                [way, *self._command],
                content,
                wall_s=_WALL_S,
                # Its threads get in each other's way: six times as slow as one.
                OMP_THREAD_LIMIT="1",
            )
        except TimeoutError as error:
            # Its CPU time is limited too: this machine is busy.
            raise ModelUnavailable("tesseract took too long. Try again later.") from error
        except subprocess.CalledProcessError as error:
            raise ModelRefused(_FAILED) from error
        except OSError as error:
            raise ModelUnavailable("tesseract cannot be started. Try again.") from error
        return _found(out.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class _Found:
    """A text, and how sure tesseract is of its letters, 0 to 100."""

    text: str
    confidence: float


def _found(table: str) -> _Found:
    """What a table of words says: lines end where lines do, paragraphs by an empty line."""
    lines: dict[tuple[str, ...], list[str]] = {}
    sure, letters = 0.0, 0
    for row in table.splitlines()[1:]:
        level, *place, confidence, word = row.split("\t", 11)
        if level == _WORD_LEVEL and word.strip():
            lines.setdefault(tuple(place[1:4]), []).append(word)
            sure += float(confidence) * len(word)
            letters += len(word)
    paragraphs: dict[tuple[str, ...], list[str]] = {}
    for (*paragraph, _), words in lines.items():
        paragraphs.setdefault(tuple(paragraph), []).append(" ".join(words))
    text = "\n\n".join("\n".join(each) for each in paragraphs.values())
    return _Found(text, sure / letters if letters else 0.0)
