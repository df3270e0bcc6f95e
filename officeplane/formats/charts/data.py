"""What a chart shows: series of numbers, and what is written below them, each with the cells that hold it."""

from dataclasses import dataclass
from typing import Final, TypeAlias

Point: TypeAlias = str | float | None
"""A text or a number; None where the cell is empty, or holds a result that nobody has calculated anew."""

GENERAL: Final = "General"


@dataclass(frozen=True, slots=True)
class Shown:
    """Cells that a chart shows, in order."""

    formula: str
    """What names them, such as `Sheet1!$B$2:$B$5`."""
    points: tuple[Point, ...]
    code: str = GENERAL
    """How their numbers are shown."""

    @property
    def is_text(self) -> bool:
        """Whether any of them holds a text."""
        return any(isinstance(point, str) for point in self.points)

    @property
    def title(self) -> str:
        """What they say together, as the name of a series."""
        return " ".join(point_text(point) for point in self.points if point is not None)


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers that belong together."""

    name: Shown | None
    values: Shown


@dataclass(frozen=True, slots=True)
class ChartData:
    """All that a chart shows; in a scatter chart the categories are how far right each point is."""

    categories: Shown | None
    series: tuple[Series, ...]


def point_text(point: str | float) -> str:
    """Return a point as caches and tables have it."""
    if isinstance(point, str):
        return point
    return str(int(point)) if point == int(point) and abs(point) < 1e15 else repr(float(point))
