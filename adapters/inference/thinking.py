"""Some reasoning models write their thoughts before the answer, inside `<think>`."""

_OPEN = "<think>"
_CLOSE = "</think>"


class LeadingThought:
    """Takes a text's deltas and gives them back without leading `<think>` blocks.

    White space before the answer is dropped with them; from its first character on, everything
    is passed. What is held back is never longer than a tag.
    """

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._passed = False

    def without(self, delta: str) -> str:
        """What may be passed on now; "" while that is undecided."""
        if self._passed:
            return delta
        held = self._held + delta
        while True:
            if self._inside:
                _, closed, after = held.partition(_CLOSE)
                if not closed:
                    self._held = held[1 - len(_CLOSE) :]
                    return ""
                self._inside, held = False, after
            self._held = held = held.lstrip()
            if len(held) < len(_OPEN) and _OPEN.startswith(held):
                return ""
            if not held.startswith(_OPEN):
                return self.rest()
            self._inside, held = True, held.removeprefix(_OPEN)

    def rest(self) -> str:
        """What was held back and is no thought, once the text has ended."""
        rest = "" if self._inside else self._held
        self._held, self._passed = "", True
        return rest
