"""First questions for a notebook, made from what its sources begin with: no model is asked."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from domain.digest import has_sentences
from domain.language import function_words
from domain.sentences import split
from domain.titles import shortened

MOST = 4
LANGUAGES = ("de", "en")
_ARTICLES = {"the", "a", "an", "der", "die", "das", "ein", "eine"}
_SHORTEST, _LONGEST, _LONGEST_SENTENCE = 4, 60, 240
_MOST_WORDS = 8

_NUMBERING = re.compile(r"\A(?:(?:§+\s?)?[\dIVX]+(?:\.\d+)*[.)]?\s+|[A-Z][.)]\s+)")
_GENERIC = re.compile(
    r"abstract|introduction|contents|table of contents|references|bibliography|conclusions?|"
    r"summary|appendix.*|acknowledge?ments?|related work|discussion|results|methods?|figures?.*|"
    r"tables?.*|chapter.*|page.*|index|overview|einleitung|einführung|inhalt|inhaltsverzeichnis|literatur.*|"
    r"quellen|fazit|zusammenfassung|anhang.*|danksagung|vorwort|abbildung.*|tabelle.*|kapitel.*|"
    r"seite.*|überblick|impressum|anlagen?",
    re.IGNORECASE,
)
_PROPER = r"[A-ZÄÖÜ][\w-]*(?: (?:(?:of|the|and|von|der|des|und|für) )?[A-ZÄÖÜ][\w-]*){0,4}"
_COMMON = r"[\w-]+(?: [\w-]+){0,3}?"
_DEFINED_EN = re.compile(
    rf"\A(?P<thing>(?:The|An?) {_COMMON}|{_PROPER}) (?P<verb>is|are|was|were) (?:an?|the|one of)\s"
)
_DONE_EN = re.compile(
    rf"\A(?P<thing>The {_COMMON}|{_PROPER}) (?P<verb>was|were) (?P<done>\w+ed|built|made|born|held|"
    r"written|won|begun)\b[^.]{0,60}\b(?:in|on)\b[^.]{0,20}\b\d{4}\b"
)
_DEFINED_DE = re.compile(
    rf"\A(?P<thing>(?:Der|Die|Das|Ein|Eine) {_COMMON}|{_PROPER}) (?P<verb>ist|sind|war|waren) "
    r"(?:ein|eine|einer|eines|der|die|das)\s"
)
_DONE_DE = re.compile(
    r"\A(?P<thing>(?:Der|Die|Das) [\w-]+(?: [A-ZÄÖÜ][\w-]+){0,3}) (?P<verb>wurden?) "
    r"[^.]{0,40}\b\d{4}\b[^.,;]{0,60} (?P<done>(?!worden)\w+(?:t|en))\.\Z"
)
_NAME = re.compile(
    r"(?<=[a-zäöüß,] )[A-ZÄÖÜ][^\W\d_A-Z]{4,}(?: [A-ZÄÖÜ][^\W\d_A-Z]{3,}){0,2}(?![\w-])"
)
_OFTEN, _MOST_TOPICS = 3, 2
_POINTS_BACK = re.compile(
    r"(?:It|He|She|They|This|That|These|Those|There|Here|What|Which|We|I|You|Er|Sie|Es|Dies\w*|Das|"
    r"Hier|Dort|Wir|Ich|Man|Beide|Both|One|Some|Many|All|Alle|Viele|Einige|However|"
    r"Therefore|Heute|Damals|Seit|Nach|Vor|Bei|Auch|Today|After|Before|In|Im|Am|On|At|From|Two|Three|"
    r"Zwei|Drei|Another|Other|Andere|Since|When|Als|Wenn|While|Obwohl|Although)\b"
)


@dataclass(frozen=True, slots=True)
class Outline:
    """How a source begins.

    Args:
        headings: each with those above it, joined by " › ".
        opening: its first windows.
    """

    title: str
    language: str
    headings: Sequence[str]
    opening: str


@dataclass(frozen=True, slots=True)
class Suggestions:
    """Questions to begin with.

    Args:
        is_written: True where a model wrote them.
        can_be_written: True where one may be asked to.
    """

    questions: Sequence[str]
    is_written: bool
    can_be_written: bool


def suggested(
    outlines: Sequence[Outline], language: str, *, most: int = MOST, quotes: bool = False
) -> list[str]:
    """Questions that the sources answer, the sources taken in turn; each once.

    Args:
        language: de or en; what the questions are in.
        quotes: True where answers are quoted: what has no sentences cannot say what it is about.
    """
    made = [_of(outline, language, quotes=quotes) for outline in outlines]
    in_turn = (question for row in zip_longest(*made) for question in row if question)
    return list(dict.fromkeys(in_turn))[:most]


def language_of(outlines: Sequence[Outline], fallback: str) -> str:
    """The language most sources are in, where questions can be made in it."""
    counts = {one: sum(o.language == one for o in outlines) for one in LANGUAGES}
    best = max(counts, key=lambda one: counts[one])
    return best if counts[best] else fallback if fallback in LANGUAGES else "en"


def _of(outline: Outline, language: str, *, quotes: bool) -> list[str]:
    """Of one source: what its sentences tell, then its headings, then the source itself."""
    told = _told(outline.opening, language) if outline.language == language else iter(())
    topics = map(_ABOUT[language].format, _topics(outline.opening))
    headings = (
        _ABOUT[language].format(heading)
        for heading in map(_heading, outline.headings)
        if heading and heading != outline.title
    )
    has_gist = not quotes or has_sentences(outline.opening, outline.language)
    title = [_TITLE[language].format(shortened(outline.title, _LONGEST))] if has_gist else []
    return list(dict.fromkeys(chain(told, headings, topics, title)))


def _told(text: str, language: str) -> Iterator[str]:
    for start, end in split(text, language):
        sentence = " ".join(text[start:end].split())
        first = sentence.partition(" ")[0].lower()
        is_thing = first in _ARTICLES or first not in function_words(language)
        if len(sentence) > _LONGEST_SENTENCE or not is_thing or _POINTS_BACK.match(sentence):
            continue
        if question := (_asked_de if language == "de" else _asked_en)(sentence):
            yield question


def _asked_en(sentence: str) -> str:
    if found := _DONE_EN.match(sentence):
        return f"When {found['verb']} {_inside(found['thing'], 'The')} {found['done']}?"
    if (found := _DEFINED_EN.match(sentence)) and len(found["thing"]) <= _LONGEST:
        return f"What {found['verb']} {_inside(found['thing'], 'The', 'A', 'An')}?"
    return ""


def _asked_de(sentence: str) -> str:
    if found := _DONE_DE.match(sentence):
        thing = _inside(found["thing"], "Der", "Die", "Das")
        return f"Wann {found['verb']} {thing} {found['done']}?"
    if (found := _DEFINED_DE.match(sentence)) and len(found["thing"]) <= _LONGEST:
        thing = _inside(found["thing"], "Der", "Die", "Das", "Ein", "Eine")
        return f"Was {found['verb']} {thing}?"
    return ""


def _inside(thing: str, *articles: str) -> str:
    """`thing` as it is written inside a sentence."""
    first, _, rest = thing.partition(" ")
    return f"{first.lower()} {rest}" if rest and first in articles else thing


def _topics(text: str) -> list[str]:
    """Names that come up again and again, most often first."""
    counts = Counter(_NAME.findall(text))
    often = (name for name, count in counts.most_common() if count >= _OFTEN)
    return [name for name in often if len(name) <= _LONGEST][:_MOST_TOPICS]


def _heading(path: str) -> str:
    """The innermost heading, where it names a subject; "" otherwise."""
    text = _NUMBERING.sub("", " ".join(path.rpartition(" › ")[2].split())).rstrip(" .:")
    words = text.split()
    fits = _SHORTEST <= len(text) <= _LONGEST and len(words) <= _MOST_WORDS
    if not fits or _GENERIC.fullmatch(text) or not any(map(str.isalpha, text)):
        return ""
    return "" if text.endswith("?") else text


_ABOUT = {"de": "Was steht hier zu „{}“?", "en": "What does it say about “{}”?"}
_TITLE = {"de": "Worum geht es in „{}“?", "en": "What is “{}” about?"}
