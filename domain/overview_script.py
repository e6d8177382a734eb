"""The script of an audio overview: what a model wrote, validated, cited, and ready to be spoken."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from domain.answer_writer import AnswerWriter
from domain.conversation import Citation
from domain.excerpts import Excerpt
from domain.making import Unusable
from domain.overview_prompt import FEWEST_WORDS, MOST_WORDS
from domain.source import count_words
from domain.speech import Line, Voice
from domain.text_gate import clean

MOST_CHARACTERS = 9_000
"""Code points of what is read aloud; longer words than a language has are none."""
_TOLERANCE = 0.2
"""Models count badly: so much fewer or more words than asked for will do."""
_MOST_TITLE = 200
_FENCE = re.compile(r"\A\s*```\w*\n(.*?)\n?```\s*\Z", re.DOTALL)
_TITLE = re.compile(r"\W*TIT(?:LE|EL)\W*?:\s*(?P<title>.*)", re.IGNORECASE)
_DECORATION = re.compile(r"^\s*(?:#{1,6}\s+|[-*•]\s+|>\s+)|\*\*|__|`", re.MULTILINE)
_QUOTES = "\"'“”„«»*_ "
_SPEAKER = re.compile(r"(?P<name>[AB])\s?[:：]\s*(?P<said>.*)", re.DOTALL)
_ADDRESS = re.compile(r"\bhttps?://|\bwww\.\w", re.IGNORECASE)
_DIRECTION = re.compile(r"[\[\]*]|^\([^()]*\)$", re.MULTILINE)
_BETWEEN = "\n\n"


@dataclass(frozen=True, slots=True)
class Script:
    """A script that can be spoken.

    Args:
        text: with its markers, a paragraph a line; of two speakers each begins with "A: " or "B: ".
        spoken: the paragraphs as they are read aloud, and who reads each (0 or 1).
    """

    title: str
    text: str
    citations: tuple[Citation, ...]
    spoken: tuple[tuple[int, str], ...]

    def lines(self, voices: Sequence[Voice]) -> list[Line]:
        """What the voices say in turn."""
        return [Line(voices[speaker], text) for speaker, text in self.spoken]


def kept_script(title: str, text: str, citations: Sequence[Citation], *, speakers: int) -> Script:
    """A script that was validated before, from what was kept of it."""
    spoken = tuple(_spoken(_without_markers(text, citations), speakers))
    return Script(title, text, tuple(citations), spoken)


def script_of(draft: str, excerpts: Sequence[Excerpt], *, speakers: int) -> Script:
    """The script that a model wrote.

    Raises:
        Unusable: it has no title, the wrong length, no such speakers, or what is not spoken.
    """
    title, body = _title_and_body(draft)
    writer = AnswerWriter([excerpt.hit for excerpt in excerpts])
    writer.feed(body)
    writer.finish()
    text = writer.text.strip()
    spoken = tuple(_spoken(_without_markers(text, writer.citations), speakers))
    if faults := [
        *([] if title else ["The first line is no `TITLE: `."]),
        *_faults(spoken, speakers),
    ]:
        raise Unusable(" ".join(faults))
    return Script(title, text, writer.citations, spoken)


def _title_and_body(draft: str) -> tuple[str, str]:
    text = clean(draft).strip()
    if fenced := _FENCE.match(text):
        text = fenced[1].strip()
    first, _, rest = text.partition("\n")
    named = _TITLE.fullmatch(first)
    title = (
        " ".join(named["title"].replace("*", "").strip(_QUOTES).split())[:_MOST_TITLE]
        if named
        else ""
    )
    body = _DECORATION.sub("", rest if named else text)
    paragraphs = (" ".join(line.split()) for line in body.splitlines())
    return title, _BETWEEN.join(paragraph for paragraph in paragraphs if paragraph)


def _without_markers(text: str, citations: Sequence[Citation]) -> str:
    """The text without its markers, each with the space before it."""
    kept, end = text, len(text)
    places = [(m.answer_start, m.answer_end) for c in citations for m in c.mentions]
    for start, stop in sorted(places, reverse=True):
        assert stop <= end  # noqa: S101 - markers do not overlap
        kept, end = kept[:start].rstrip(" ") + kept[stop:], start
    return kept


def _spoken(text: str, speakers: int) -> list[tuple[int, str]]:
    """Who says what; a paragraph without a name belongs to who spoke last, or to nobody (-1)."""
    told: list[tuple[int, str]] = []
    for paragraph in filter(None, map(str.strip, text.split(_BETWEEN))):
        named = _SPEAKER.fullmatch(paragraph) if speakers > 1 else None
        if named:
            told.append(("AB".index(named["name"]), named["said"].strip()))
        else:
            last = told[-1][0] if told else -1
            told.append((last if speakers > 1 else 0, paragraph))
    return told


def _faults(spoken: Sequence[tuple[int, str]], speakers: int) -> list[str]:
    text = "\n".join(said for _, said in spoken)
    words = count_words(text)
    faults = []
    if not FEWEST_WORDS * (1 - _TOLERANCE) <= words <= MOST_WORDS * (1 + _TOLERANCE):
        faults.append(f"It has {words:,} words, not {FEWEST_WORDS} to {MOST_WORDS}.")
    if len(text) > MOST_CHARACTERS:
        faults.append(f"It has {len(text):,} characters; {MOST_CHARACTERS:,} is the limit.")
    if {speaker for speaker, said in spoken if said} != set(range(speakers)):
        faults.append(
            "Its paragraphs do not begin with `A: ` and `B: `, both in turn."
            if speakers > 1
            else "It says nothing."
        )
    if _ADDRESS.search(text):
        faults.append("It holds a web address, which nobody can listen to.")
    if _DIRECTION.search(text):
        faults.append(
            "It holds square brackets, asterisks or stage directions, which are not spoken."
        )
    return faults
