"""Sizes: widths of columns and indents, which Excel counts in digits and in steps, in points."""

import math
from typing import Final

_PIXELS_OF_POINT: Final = 96 / 72
_WIDTH_OF_DIGIT: Final = 0.507
"""How wide a digit of Calibri is; those of other fonts are about as wide."""

_BASE: Final = 8
_AROUND: Final = 5
INDENT_POINTS: Final = 6.75
"""What a step of an indent is with the usual font: three spaces."""

INDENT_MAX: Final = 250
WIDTH_MAX: Final = 255
"""A column is no wider, in digits."""


class Widths:
    """Widths of columns where the usual font has this size."""

    def __init__(self, font_size: float) -> None:
        self._digit = max(1, int(font_size * _PIXELS_OF_POINT * _WIDTH_OF_DIGIT + 0.5))

    @property
    def usual(self) -> float:
        """The width of a column of which nothing is said."""
        return _kept(math.ceil((_BASE * self._digit + _AROUND) / 8) * 8 / self._digit)

    @property
    def points_max(self) -> float:
        """The widest that a column may be, in points."""
        return self.points(WIDTH_MAX)

    def of(self, points: float) -> float:
        """Return a width as a file holds it, of whole pixels."""
        return _kept(max(1, round(points * _PIXELS_OF_POINT)) / self._digit)

    def points(self, width: float) -> float:
        """Return a width in points."""
        return int((256 * width + int(128 / self._digit)) / 256 * self._digit) / _PIXELS_OF_POINT


def steps_of(points: float) -> int:
    """Return an indent in Excel's steps, one at least if there is any."""
    return min(INDENT_MAX, max(1, round(points / INDENT_POINTS))) if points > 0 else 0


def _kept(width: float) -> float:
    return math.floor(width * 256) / 256
