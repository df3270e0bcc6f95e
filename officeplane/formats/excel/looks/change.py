"""Changes of a look: what is named is changed, all else of a format stays."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Literal, TypeAlias

Side: TypeAlias = Literal["left", "right", "top", "bottom"]


@dataclass(frozen=True, slots=True)
class Edge:
    """A line along a side of a cell."""

    style: str
    """Excel's word for it, such as `thin`; `none` takes the line away."""
    color: str | None = None
    """`RRGGBB`; None keeps the colour there is, or is the reader's own."""


@dataclass(frozen=True)
class FormatChange:
    """What becomes of the format of a cell; None is for what nobody named."""

    style: str | None = None
    """The named style that it is given before anything else."""
    number_format: str | None = None
    """A code as Excel writes it."""
    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    strike: bool | None = None
    color: str | None = None
    font: str | None = None
    size: float | None = None
    fill: str | None = None
    """`RRGGBB`, or `none`."""
    edges: tuple[tuple[Side, Edge], ...] = ()
    align: str | None = None
    vertical: str | None = None
    wrap: bool | None = None
    indent: int | None = None
    """Excel's steps."""

    @property
    def is_empty(self) -> bool:
        """Whether it leaves every format as it is."""
        return all(getattr(self, each.name) in (None, ()) for each in fields(self))

    def with_edges(self, edges: tuple[tuple[Side, Edge], ...]) -> "FormatChange":
        """Return it with lines."""
        return replace(self, edges=edges)

    @cached_property
    def is_of_fonts(self) -> bool:
        """Whether it changes letters."""
        named = (self.bold, self.italic, self.underline, self.strike, self.color, self.font, self.size)
        return any(each is not None for each in named)

    @cached_property
    def is_of_heights(self) -> bool:
        """Whether a row may need another height for what it holds."""
        return any(each is not None for each in (self.size, self.font, self.wrap, self.style))

    @property
    def is_of_places(self) -> bool:
        """Whether it changes where in a cell its content stands."""
        return any(each is not None for each in (self.align, self.vertical, self.wrap, self.indent))
