"""Content as rows: what a text with headings, lists and tables becomes in a sheet, from column A downwards."""

from collections.abc import Iterator
from typing import assert_never

from officeplane.formats.blocks import Block, Code, Heading, Item, Line, Paragraph, Quote, Rule, Span, Table


def rows_of(blocks: list[Block]) -> Iterator[list[Line]]:
    """Yield the rows, each a list of the cells' texts; an empty text leaves its cell empty."""
    counts: dict[int, int] = {}
    for block in blocks:
        match block:
            case Heading(line=line):
                yield [tuple(_bold(span) for span in line)]
            case Paragraph(line=line) | Quote(line=line):
                yield [line]
            case Item(line=line, ordered=ordered, depth=depth, begins_list=begins_list, start=start):
                counts[depth] = start if begins_list else counts.get(depth, 0) + 1
                mark = f"{counts[depth]}. " if ordered else "• "
                yield [(Span("   " * depth + mark), *line)]
            case Code(text=text):
                for line_of_code in text.splitlines():
                    yield [(Span(line_of_code),)]
            case Table(rows=rows, header_rows=header_rows):
                for at, row in enumerate(rows):
                    yield [tuple(_bold(span) for span in cell) if at < header_rows else cell for cell in row]
            case Rule():
                yield []
            case _:
                assert_never(block)


def text_of(line: Line) -> str:
    """Return the text of a line; a link shows where it leads."""
    return "".join(_shown(span) for span in line)


def _shown(span: Span) -> str:
    return f"{span.text} ({span.link})" if span.link and span.link != span.text else span.text


def _bold(span: Span) -> Span:
    return Span(span.text, bold=True, italic=span.italic, strike=span.strike, code=span.code, link=span.link)
