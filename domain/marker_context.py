"""What the text around a would-be marker says about it."""

import re

from domain.markers import Body

_INDEXED = re.compile(
    r"(?:(?<![^\W_])(?<!\.)[a-z]|\b(?:arr|argv|args|lst|vec|buf|nums|tmp|ptr|idx|df)|\w*_\w*|\(\))"
    r"(?:\[\w{1,8}\])*\Z"
)
_INTERVAL = re.compile(
    r"(?:\bintervall?(?:s|e|en|es)?|\brange|bereich|\bvektor|\bvector|\btupe?le?|[=∈⊂⊆×∪∩])"
    r"(?:\s+(?:of|from|von|is|ist|in))?\s*\Z",
    re.IGNORECASE,
)
_POWER = re.compile(
    r"(?:[\d)\]}⁻^_]|(?<![^\W\d_])[^\W\d_]{1,3}"
    r"|(?:meter|metre|sekunden?|seconds?|feet|inch|sinh|cosh|tanh)s?)\Z",
    re.IGNORECASE,
)
_SHORT_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,3}\Z")
_AFTER_CLAIM = re.compile(r"[^\W\d_][\"“”»)\]*_]*[ \u00a0]\Z")
_COUNTED = re.compile(
    r"(?:§|\b(?:abs(?:atz|ätze)?|art(?:ikel|icle)?s?|sections?|sec|paragraph|para|satz|nr|no|nummer|"
    r"number|item|punkt|point|step|schritt|fig(?:ure)?|abb(?:ildung)?|tab(?:elle|le)?|eq(?:uation)?|"
    r"gleichung|formel|formula|clause|ziffer|kapitel|chapter|part|teil|stufe|phase|level|option|case|"
    r"fall|one|two|three|four|five|six|seven|eight|nine|ten|eine?[mnrs]?|zwei|drei|vier|fünf|sechs|"
    r"sieben|acht|neun|zehn))\.?[ \u00a0]\Z",
    re.IGNORECASE,
)
_YEAR = range(1_500, 2_101)
_OPENS_QUOTE, _CLOSES_QUOTE = "„“«»‹›", "“”«»‹›"
_QUOTES = re.compile(r"[„“”«»\n]")
_ANOTHER = re.compile(r"[ \t]{1,2}[\[［【]\d")
_ANOTHER_START = re.compile(r"[ \t]{0,2}[\[［【]?\Z")


def names_no_passage(body: Body, known: range) -> bool:
    """True where bare numbers are plainly something else: years, or an interval from 0."""
    numbers = body.numbers
    if len(numbers) > 1 and 0 in numbers:
        return True
    return all(number not in known and number in _YEAR for number in numbers)


def is_index(before: str) -> bool:
    """True where a bracket behind `before` picks an element: `arr[1]`, `x[1]`, `my_list[1]`."""
    return _INDEXED.search(before) is not None


def is_interval(before: str, body: Body) -> bool:
    """True where two numbers in brackets are its ends: "The interval [1, 5]"."""
    ends = [first for first, last in body.spans if first == last]
    return len(body.spans) > 1 and len(ends) == len(body.spans) and bool(_INTERVAL.search(before))


def is_power(before: str, raised: str) -> bool:
    """True where something raised behind `before` is an exponent: m², 10³, S^2.

    A footnote's ¹ may follow a short word, since nothing is raised to the first power.
    """
    if not _POWER.search(before):
        return False
    return not (raised == "¹" and _SHORT_WORD.search(before))


def is_enumerated(before: str) -> bool:
    """True where `(1)` behind `before` is a paragraph's, a step's or a list's own number."""
    return not _AFTER_CLAIM.search(before) or _COUNTED.search(before) is not None


class Quotation:
    """Whether a text stands inside typographic quotation marks, as far as it has been read."""

    def __init__(self) -> None:
        self.open = False

    def read(self, text: str) -> None:
        """Take in the next piece; a line break ends a quotation."""
        for mark in _QUOTES.findall(text):
            closes = mark in "”\n" or (self.open and mark in _CLOSES_QUOTE)
            self.open = not closes and mark in _OPENS_QUOTE


class Footnotes:
    """Tells markers from the footnote numbers of a source that an answer quotes.

    Models put a marker behind a space, a word or a full stop; a number behind a comma, inside
    a quotation, or before a marker that closes the same sentence is the source's own.
    """

    def __init__(self) -> None:
        self._seen = False
        self._after_stops = False
        self._last = False

    def holds(self, before: str, after: str, *, quoted: bool, adjacent: bool) -> bool | None:
        """True where a number between `before` and `after` is a footnote's; None to wait.

        Args:
            before: the text before it.
            after: up to four code points behind it, fewer where the stream has not come further.
            quoted: it stands inside a quotation.
            adjacent: it follows another number directly, and is what that was.
        """
        if not adjacent:
            verdict = self._judge(before, after, quoted=quoted)
            if verdict is None:
                return None
            self._last = verdict
        return self._last

    def _judge(self, before: str, after: str, *, quoted: bool) -> bool | None:
        if before[-1].isspace() or before[-1] in "([{„«":
            return False
        closing = after[:1] in _CLOSES_QUOTE
        if quoted and after and not closing:
            return True
        stop = before[-1] in ".!?"
        if before[-1] == "," and before[-2:-1].isalpha() and not self._after_stops:
            self._seen = True
            return True
        if (quoted and closing) or (stop and self._seen):
            rest = after[1:] if closing and after else after
            if _ANOTHER_START.fullmatch(rest):
                return None
            return _ANOTHER.match(rest) is not None
        self._after_stops |= stop
        return False
