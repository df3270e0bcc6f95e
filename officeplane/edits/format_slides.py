"""What `format` asks for, as slides take it."""

from typing import Protocol

from officeplane.edits.format_fields import Border, LettersAsked, Spacing
from officeplane.formats.powerpoint.looks.boxes import Box
from officeplane.formats.powerpoint.looks.formatting import LooksOfSlide
from officeplane.formats.powerpoint.looks.letters import Letters
from officeplane.formats.powerpoint.looks.lines import Lines
from officeplane.formats.powerpoint.looks.paragraphs import Paragraphs
from officeplane.formats.powerpoint.looks.sizes import Size


class Asked(Protocol):
    """The part of the payload that is about slides."""

    @property
    def letters(self) -> LettersAsked: ...
    @property
    def lines(self) -> Border | None: ...
    @property
    def list_kind(self) -> str | None: ...
    @property
    def align(self) -> str | None: ...
    @property
    def vertical_align(self) -> str | None: ...
    @property
    def indent(self) -> float | None: ...
    @property
    def spacing(self) -> Spacing | None: ...
    @property
    def fill(self) -> str | None: ...
    @property
    def wrap(self) -> bool | None: ...
    @property
    def width(self) -> float | None: ...
    @property
    def height(self) -> float | None: ...


def looks_of_slide(asked: Asked) -> LooksOfSlide:
    """Return what to change on a slide."""
    spacing, border = asked.spacing or Spacing.model_construct(), asked.lines
    lines = None if border is None else Lines(border.style, frozenset(border.sides), border.color)
    return LooksOfSlide(
        Letters(*asked.letters),
        Paragraphs(asked.list_kind, asked.align, asked.indent, spacing.before, spacing.after, spacing.line),
        Box(asked.vertical_align, asked.fill, lines, asked.wrap),
        Size(asked.width, asked.height),
    )
