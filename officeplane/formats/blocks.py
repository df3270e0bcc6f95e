"""Blocks: what `content` says, before it becomes paragraphs of Word, of a slide or of a sheet."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text in one formatting."""

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    link: str | None = None


Line: TypeAlias = tuple[Span, ...]
"""The text of one paragraph; a line break within it is a newline in a span's text."""


@dataclass(frozen=True, slots=True)
class Picture(Span):
    """A picture: its text is what it shows, its link `node:` and the id of one, or its bytes as a data URI."""


@dataclass(frozen=True, slots=True)
class Note(Span):
    """The mark of a note: its text is the note's number, or the label of a new one, which says something."""

    says: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the most important."""

    level: int
    line: Line


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text."""

    line: Line


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list; `depth` 0 is the outermost, `begins_list` starts counting anew, from `start` on."""

    line: Line
    ordered: bool
    depth: int
    begins_list: bool
    start: int = 1


@dataclass(frozen=True, slots=True)
class Quote:
    """A paragraph of somebody else's words."""

    line: Line


@dataclass(frozen=True, slots=True)
class Code:
    """Text kept as it is, line by line."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first `header_rows` are headings. Rows may differ in length."""

    rows: tuple[tuple[Line, ...], ...]
    header_rows: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across."""


Block: TypeAlias = Heading | Paragraph | Item | Quote | Code | Table | Rule


OPEN: Final = "\N{BALLOT BOX}"
DONE: Final = "\N{BALLOT BOX WITH CHECK}"
"""How the item of a task begins."""


def with_lines(block: Block, changed: Callable[[Line], Line]) -> Block:
    """Return a block with other lines."""
    match block:
        case Table(rows):
            return replace(block, rows=tuple(tuple(map(changed, row)) for row in rows))
        case Code() | Rule():
            return block
        case _:
            return replace(block, line=changed(block.line))


def lines_of(block: Block) -> Iterator[Line]:
    """Yield the lines of a block."""
    match block:
        case Table(rows):
            for row in rows:
                yield from row
        case Code() | Rule():
            return
        case _:
            yield block.line


def plain(line: Line) -> str:
    """Return a line without its formatting."""
    return "".join(span.text for span in line)
