"""Paragraphs: the text of `a:p`, read and replaced across its runs."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from officeplane.formats.patterns.matching import Match
from officeplane.formats.powerpoint.names import a, alone
from officeplane.formats.xml import Element

PARAGRAPH: Final = a("p")
RUN: Final = a("r")
BREAK: Final = a("br")
_TEXT: Final = a("t")
FIELD: Final = a("fld")
_AROUND: Final = frozenset({a("pPr"), a("endParaRPr")})
_BARRIER: Final = "\0"  # no document can hold it, so no text is found across it


@dataclass(slots=True)
class _Piece:
    """A run or a break, with where its text begins in the paragraph."""

    element: Element
    begin: int
    text: str
    was: str


def text_of(paragraph: Element) -> str:
    """Return a paragraph's text, with what its fields show; breaks are newlines."""
    return "".join(_shown(child) for child in paragraph)


def searchable(paragraph: Element) -> str:
    """Return the text in which to search: what the program fills in itself is a barrier."""
    return "".join(text for _, text in _stretches(paragraph))


def replace(paragraph: Element, found: Sequence[Match], replacements: Sequence[str]) -> None:
    """Replace what was found in the formatting of where it begins."""
    pieces: list[_Piece] = []
    at = 0
    for element, text in _stretches(paragraph):
        pieces.append(_Piece(element, at, text, text))
        at += len(text)
    for match, replacement in zip(reversed(found), reversed(replacements), strict=True):
        _put(pieces, match.begin, match.end, replacement)
    changed = [piece for piece in pieces if piece.text != piece.was]
    for piece in changed:
        _store(paragraph, piece)


def cut_out(paragraph: Element, begin: int, end: int) -> list[Element]:
    """Return the runs and breaks that say a part of what is searched and nothing else; longer ones are divided."""
    _divide(paragraph, end)
    _divide(paragraph, begin)
    found: list[Element] = []
    at = 0
    for element, text in _stretches(paragraph):
        if text and begin <= at and at + len(text) <= end:
            found.append(element)
        at += len(text)
    return found


def one_line(text: str) -> str:
    """Return a text with one kind of line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _divide(paragraph: Element, place: int) -> None:
    """Divide the run in which a place is, so that a run begins there."""
    at = 0
    for element, text in [*_stretches(paragraph)]:
        if at < place < at + len(text):
            rest = deepcopy(element)
            element.addnext(rest)
            _write(element, text[: place - at])
            _write(rest, text[place - at :])
            return
        at += len(text)


def _shown(child: Element) -> str:
    if child.tag in {RUN, FIELD}:
        return child.findtext(_TEXT) or ""
    return "\n" if child.tag == BREAK else ""


def _stretches(paragraph: Element) -> Iterator[tuple[Element, str]]:
    for child in paragraph:
        if child.tag == RUN:
            yield child, child.findtext(_TEXT) or ""
        elif child.tag == BREAK:
            yield child, "\n"
        elif isinstance(child.tag, str) and child.tag not in _AROUND:
            yield child, _BARRIER


def _put(pieces: list[_Piece], begin: int, end: int, replacement: str) -> None:
    """Put the replacement where a match begins, and cut the match out of all that it covers."""
    pending = one_line(replacement)
    for piece in pieces:
        length = len(piece.was)
        if piece.begin + length <= begin:
            continue
        if piece.begin >= end:
            break
        head = max(begin - piece.begin, 0)
        # Later matches were replaced already, all of them behind this one's end.
        tail = min(end - piece.begin, length)
        piece.text = piece.text[:head] + pending + piece.text[tail:]
        pending = ""


def _store(paragraph: Element, piece: _Piece) -> None:
    element = piece.element
    formatting = element.find(a("rPr"))
    lines = piece.text.split("\n")
    is_only = sum(child.tag in {RUN, BREAK, FIELD} for child in paragraph) == 1
    if element.tag == RUN and len(lines) == 1 and (piece.text or is_only):
        _write(element, piece.text)
        return
    at = paragraph.index(element)
    made: list[Element] = []
    for number, line in enumerate(lines):
        if number:
            made.append(_beside(BREAK, formatting))
        if line or (is_only and len(lines) == 1):
            run = _beside(RUN, formatting)
            _write(run, line)
            made.append(run)
    paragraph.remove(element)
    for offset, one in enumerate(made):
        paragraph.insert(at + offset, one)


def _beside(tag: str, formatting: Element | None) -> Element:
    made = alone(tag)
    if formatting is not None:
        made.append(deepcopy(formatting))
    return made


def _write(run: Element, text: str) -> None:
    holder = run.find(_TEXT)
    if holder is None:
        holder = alone(_TEXT)
        run.append(holder)
    holder.text = text
