"""Shapes: what is left of a formula without its numbers; all that were filled down have one.

Whatever number of up to six digits stands in its place, a formula is cut into the same
tokens: where rows stand in one formula, they stand in all of its shape. So patterns,
which take most of the time, are tried on one of 20,000 formulas and not on each.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

Rows: TypeAlias = tuple[tuple[int, ...], ...]
"""Which pieces are rows; those that belong together in one tuple."""

_NUMBER: Final = re.compile(r"([1-9](?<![0-9][0-9])[0-9]{0,5})(?![0-9])")
"""What may be a row. Noughts, and what is longer, are no different from letters here."""
_SHAPES_MAX: Final = 50_000


class Shapes:
    """Where rows stand in formulas, found out once for each shape.

    `look` tells where in a formula rows begin, those together that belong together. It
    must not ask what the numbers are.
    """

    def __init__(self, look: Callable[[str], Iterable[tuple[int, ...]]]) -> None:
        self._look = look
        self._known: dict[tuple[str, ...], Rows | None] = {}

    def of(self, formula: str) -> tuple[list[str], Rows | None]:
        """Return a formula in pieces, and which are rows; None when a row is no piece of its own."""
        pieces = _NUMBER.split(formula)
        shape = tuple(pieces[::2])
        try:
            return pieces, self._known[shape]
        except KeyError:
            if len(self._known) == _SHAPES_MAX:
                self._known.clear()
            found = self._known[shape] = self._rows(formula, pieces)
            return pieces, found

    def _rows(self, formula: str, pieces: list[str]) -> Rows | None:
        places: dict[int, int] = {}
        begin = 0
        for at, piece in enumerate(pieces):
            if at % 2:
                places[begin] = at
            begin += len(piece)
        try:
            return tuple(tuple(places[each] for each in together) for together in self._look(formula))
        except KeyError:
            return None
