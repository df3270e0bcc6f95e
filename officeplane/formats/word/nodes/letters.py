"""Letters: what lines are compared by; a picture, or the mark of a note, is one letter."""

from typing import TypeAlias

from officeplane.formats.blocks import Line, Note, Picture, Span
from officeplane.formats.word.content import INSET

Look: TypeAlias = tuple[bool, bool, bool, bool, str | None]


def letters_of(span: Span) -> str:
    """Return what a span is compared by, letter by letter."""
    return INSET if isinstance(span, Picture | Note) else span.text


def pictures_in(line: Line) -> list[Picture]:
    """Return the pictures in a line."""
    return [span for span in line if isinstance(span, Picture)]


def told_in(line: Line) -> list[str]:
    """Return what is told of each picture in a line."""
    return [span.text for span in pictures_in(line)]


def look_of(span: Span) -> Look:
    """Return how the letters of a span look, or what its picture or note is."""
    if isinstance(span, Note):
        return False, False, False, False, f"{'new' if span.says else 'old'} note {span.text}"
    return span.bold, span.italic, span.strike, span.code, span.link


def bare(line: Line) -> Line:
    """Return a line without its formatting."""
    return tuple(Span(span.text) for span in line)


def part_of(line: Line, begin: int, end: int) -> Line:
    """Return a stretch of a line, by its letters."""
    made: list[Span] = []
    at = 0
    for span in line:
        letters = letters_of(span)
        text = letters[max(begin - at, 0) : max(end - at, 0)]
        if text:
            made.append(span if isinstance(span, Picture | Note) else Span(text, *look_of(span)))
        at += len(letters)
    return tuple(made)
