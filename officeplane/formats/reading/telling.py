"""Telling: what a part of a document says, as text."""

from typing import NamedTuple

from officeplane.formats.reading.reader import Reader, found
from officeplane.formats.reading.room import cut
from officeplane.formats.shown import Measure


class TextWanted(NamedTuple):
    """Which node's text to tell, from which character on, and how much of it."""

    under: str | None = None
    begin: int = 0
    tokens_max: int | None = None


class Told(NamedTuple):
    """A text, and the place at which the next answer begins if there is more."""

    text: str
    next: int | None


def told(text: str, wanted: TextWanted) -> Told:
    """Return a text from the place on at which an answer ended."""
    kept, following = cut(text, wanted.begin, wanted.tokens_max)
    return Told(Measure().passed(kept), following)


def text_under(reader: Reader, under: str) -> str:
    """Return what a node says with all below it."""
    return reader.said(found(reader, under))
