"""Charts as shapes: where everything stands, for a template to draw as SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

WIDTH, HEIGHT = 720.0, 180.0
_STEPS = (1, 2, 5, 10)
_GAP = 0.25
"""Share of a column's room that stays free."""


@dataclass(frozen=True, slots=True)
class Part:
    """A rectangle of a column: what it stands for, and where it is."""

    name: str
    value: Decimal
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Column:
    """A stack of rectangles over one place of the axis."""

    label: str
    total: Decimal
    x: float
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """Stacked columns, and a top line whose value is round.

    Args:
        present: names of parts that are there, in the order they are stacked.
        shown: labels of the axis: the first, the middle and the last column.
    """

    columns: tuple[Column, ...]
    present: tuple[str, ...]
    top: Decimal
    shown: tuple[Column, ...]


def columns(stacks: Sequence[tuple[str, Mapping[str, Decimal]]], names: Sequence[str]) -> Columns:
    """Columns for labelled stacks, all to one scale."""
    room = WIDTH / max(1, len(stacks))
    top = _round_up(
        max((sum(stack.values(), Decimal(0)) for _, stack in stacks), default=Decimal(0))
    )
    made = tuple(
        _column(label, stack, names, index * room, room, top)
        for index, (label, stack) in enumerate(stacks)
    )
    places = sorted({0, len(made) // 2, len(made) - 1}) if made else []
    present = tuple(name for name in names if any(name in stack for _, stack in stacks))
    return Columns(made, present, top, tuple(made[place] for place in places))


def _column(
    label: str,
    stack: Mapping[str, Decimal],
    names: Sequence[str],
    x: float,
    room: float,
    top: Decimal,
) -> Column:
    parts, below = [], HEIGHT
    for name in names:
        value = stack.get(name, Decimal(0))
        if value:
            height = float(value / top) * HEIGHT
            below -= height
            parts.append(Part(name, value, x + room * _GAP / 2, below, room * (1 - _GAP), height))
    return Column(label, sum(stack.values(), Decimal(0)), x, tuple(parts))


def _round_up(value: Decimal) -> Decimal:
    """The next of 1, 2, 5 times a power of ten; 1 for nothing."""
    if value <= 0:
        return Decimal(1)
    power = Decimal(10) ** value.adjusted()
    return next(step * power for step in _STEPS if step * power >= value)
