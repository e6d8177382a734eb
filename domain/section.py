"""What stands under a heading with a number: "Was steht in Artikel 5?", "What does § 14 say?"."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from domain.commands import spoken_to_a_model, touches
from domain.ids import SourceId
from domain.labels import labelled
from domain.quotable import clauses, is_quotable, seems_cut
from domain.retrieval import Hit
from domain.source import count_words

_NAME = "(?P<name>.+?)"
_ASKS = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        rf"was (?:steht|sagt|regelt|besagt|bestimmt|enthält|heißt es)(?: in| unter)? {_NAME}",
        rf"was ist (?:in|unter) {_NAME} (?:geregelt|bestimmt|festgelegt)",
        rf"(?:wie lautet|worum geht es in|wovon handelt|zitiere) {_NAME}",
        rf"what does {_NAME} (?:say|state|provide|regulate|contain|require|cover)",
        rf"(?:what is (?:in|under)|what does it say in|quote) {_NAME}",
        rf"what is {_NAME} about",
        _NAME,
    )
)
_THE = re.compile(r"(?:(?:de[mrn]|die|das|the)\s)?\s*", re.IGNORECASE)
_GOES_ON = re.compile("[.,;:?!]")
_MOST_WORDS_BEHIND, _MOST_WORDS_BEFORE, _LONGEST_HEADING = 3, 2, 10
_REFERS = re.compile(r"\s*(?:[a-zäöü,;]|(?:Abs|Satz|Nr|Sent)\b)")
"""How a line goes on in which the number is no heading but part of a sentence."""
_MOST_SENTENCES, _MOST_WORDS = 6, 150


def under(question: str, hits: Sequence[Hit]) -> list[tuple[int, int, int]]:
    """The sentences below the heading that is asked for: rank, start and end of each.

    Empty where something else is asked, or where no hit has such a heading: a line that begins
    with that number and is no sentence. Of each source its best hit speaks.
    """
    label = _asked(question)
    found: dict[SourceId, list[tuple[int, int, int]]] = {}
    for hit in hits if label else ():
        if hit.source_id not in found and (told := list(_below(label, hit))):
            found[hit.source_id] = told
    share = max(1, _MOST_SENTENCES // max(1, len(found)))
    return [one for told in found.values() for one in told[:share]]


def _asked(question: str) -> str:
    """The label that a question asks for alone; "" where it asks for anything else."""
    line = " ".join(question.split()).rstrip(" ?.!")
    for words in _ASKS:
        if asked := words.fullmatch(line):
            name = asked["name"]
            labels = labelled(name)
            if len(labels) == 1 and _is_label(name, labels[0][0]):
                return labels[0][1]
    return ""


def _is_label(name: str, number: str) -> bool:
    """Whether a name is a label and its number, and little else: "dem Artikel 5 GG"."""
    before, _, behind = name.partition(number)
    is_short = len(behind.split()) <= _MOST_WORDS_BEHIND and not _GOES_ON.search(behind)
    return is_short and len(_THE.sub("", before, count=1).split()) <= 1


def _below(label: str, hit: Hit) -> Iterator[tuple[int, int, int]]:
    """The sentences from that heading in a hit to the next one, some of them."""
    headings = [*_headings(hit.text), (len(hit.text), len(hit.text), "")]
    sections = ((end, stop) for (_, end, name), (stop, _, _) in pairwise(headings) if name == label)
    commands, words = spoken_to_a_model(hit.text), 0
    for begin, stop in sections:
        for first, last in clauses(hit.text[begin:stop], hit.language):
            start, end = begin + first, begin + last
            text = hit.text[start:end]
            if words and words + count_words(text) > _MOST_WORDS:
                return
            words += count_words(text)
            cut = seems_cut(hit.text, start, end, continues=False)
            if is_quotable(text) and not cut and not touches(commands, start, end):
                yield hit.rank, start, end


def _headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Start and end of each line that is a heading with a number, and its label."""
    for line in re.finditer(r"[^\n]+", text):
        labels = labelled(line[0])
        if len(labels) == 1 and count_words(line[0]) <= _LONGEST_HEADING:
            number, label = labels[0]
            before, _, behind = line[0].partition(number)
            if len(before.split()) <= _MOST_WORDS_BEFORE and not _REFERS.match(behind):
                yield line.start(), line.end(), label
