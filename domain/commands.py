"""Where a source speaks to a model instead of its reader: nothing that is worth quoting.

A model is told that sources are data. Answers without a model are quotations, and one that tells
the reader to ignore all rules, or what to answer, would look like the product's own words.
"""

import re
from collections.abc import Sequence

_VERB = (
    r"(?:ignore|disregard|forget|override|bypass|ignorier\w*|vergiss|vergesst|vergessen sie|"
    r"missachte\w*|verwirf|überschreibe)"
)
_RULES = (
    r"(?:instruction|prompt|rule|guideline|direction|command|constraint|indicator|scoring|polic|"
    r"anweisung|regel|vorgabe|befehl|richtlinie)"
)
_MODEL = (
    r"(?:an? ?ai|the ai|ai|llms?|ki|assistants?|assistent(?:en|in)?|chatbots?|language models?|"
    r"sprachmodelle?|models?|bots?|automated \w+(?: \w+)?|automatische \w+)"
)
_SAY = (
    r"(?:say|print|output|respond|reply|answer|append|repeat|begin|start|end|mention|include|report|"
    r"reveal|show|display|gib|schreib\w*|antworte\w*|beginne|beende|wiederhole|erwähne|zeige|füge|"
    r"nenne|zitiere|sage?)"
)
_COMMAND = re.compile(
    "|".join(
        (
            (
                rf"(?:^|[.!?:;,\"“„»(\]>-]\s*|\b(?:and|und|please|bitte|then|dann|must|simply)\s+)"
                rf"{_VERB}\b[^.!?\n]{{0,80}}?\b\w{{0,20}}{_RULES}"
            ),
            rf"\b(?:to|for|an|für|dear|note|hinweis)\b[^.!?\n]{{0,30}}\b{_MODEL}\s?:",
            r"\[/?\s?(?:system|inst|sys)\s?\]|<</?sys>>|<\|\w{2,20}\|>",
            r"</?\s?(?:passage|system|instructions?)\b",
            (
                r"^\W{0,4}(?:#{2,4}\s?)?(?:system|assistant|developer)\s?:\s*(?!\d)(?=\w+ )"
                rf"(?:{_SAY}|{_VERB}|you|du)\b"
            ),
            (
                rf"\b{_SAY}\b[^.!?\n]{{0,60}}\b(?:system[- ]?(?:prompt|regeln|rules|message)|"
                r"initial prompt|api[- ]?(?:key|schlüssel)|in (?:every|each) (?:answer|reply)|"
                r"to (?:every|each) (?:sentence|answer)|für jede (?:aussage|antwort)|in jeder "
                r"antwort)"
            ),
            rf"^\W{{0,4}}(?:to verify|{_SAY})\b[^.!?\n]{{0,60}}\b(?:following token|token)\b",
            (
                r"\b(?:respond|reply|answer|antworte\w*)\s(?:simply\s|only\s|nur\s)?(?:with|mit)\b"
                r"[^.!?\n]{0,60}(?:\bonly\b|\bnur\b|[\"“„«])"
            ),
            (
                r"\b(?:every|each|jede[rn]?|all[en]?)\s(?:answers?|replies|responses?|antwort(?:en)?)"
                r"\s(?:must|should|muss|müssen|soll(?:en)?)\b"
            ),
            r"\banswer to (?:every|any|each) question\b|\bantwort auf (?:jede|alle) fragen?\b",
            (
                r"\byou are (?:now |a |an )*(?:DAN\b|in (?:developer|maintenance|debug) mode)"
                r"|\bdu bist (?:jetzt|nun|ab jetzt)\b"
            ),
            (
                r"\b(?:never|nie(?:mals)?) (?:cite|quote|zitiere\w*)\b|\bchain of thought\b|"
                r"\bdecode this\b|\bdekodiere (?:das|dies)\b"
            ),
            "[\U000e0020-\U000e007e]{4,}",
        )
    ),
    re.IGNORECASE | re.MULTILINE,
)
_BEFORE = '.!?:;,"“„»(]>- \n\t'
_QUOTED = re.compile(r"[“„\"«»][^“”„\"«»\n]{3,200}[”“\"»«]")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n|\Z")


def spoken_to_a_model(text: str) -> list[tuple[int, int]]:
    """[start, end) of what commands a model, each to the end of its paragraph.

    What a text only quotes is no command of its own.
    """
    plain = _QUOTED.sub(lambda quote: '"' + " " * (len(quote[0]) - 2) + '"', text)
    found: list[tuple[int, int]] = []
    for command in _COMMAND.finditer(plain):
        if found and command.start() < found[-1][1]:
            continue
        first = command.end() - len(command[0].lstrip(_BEFORE))
        begin = max(plain.rfind("\n", 0, first), plain.rfind(". ", 0, first))
        end = _PARAGRAPH_END.search(plain, command.end())
        found.append((begin + 1, end.start() if end else len(plain)))
    return found


def touches(spans: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """True where [start, end) lies in one of `spans`, in part or whole."""
    return any(begin < end and start < stop for begin, stop in spans)
