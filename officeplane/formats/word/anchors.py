"""Anchors: the stretch of a text that a comment is about."""

from collections.abc import Iterator

from officeplane.formats.word.names import P_PR, R, element
from officeplane.formats.word.segments import run_at, segments
from officeplane.formats.xml import Element


def anchor_around(first: Element, last: Element, number: str, reference: Element) -> None:
    """Mark everything from the beginning of one paragraph to the end of another."""
    begin, end = _marks(number)
    properties = first.find(P_PR)
    first.insert(0 if properties is None else first.index(properties) + 1, begin)
    last.append(end)
    last.append(reference)


def anchor_at(paragraph: Element, span: tuple[int, int], number: str, reference: Element) -> None:
    """Mark a stretch of a paragraph's text; runs are split where it begins and ends."""
    after = run_at(paragraph, span[1])
    first = run_at(paragraph, span[0])
    if first is None:
        anchor_around(paragraph, paragraph, number, reference)
        return
    last = _run_before(paragraph, after)
    begin, end = _marks(number)
    _markable(first, paragraph).addprevious(begin)
    _markable(last, paragraph).addnext(end)
    # The sign of a comment is no part of a link or of somebody's insertion.
    _outermost(end, paragraph).addnext(reference)


def _run_before(paragraph: Element, after: Element | None) -> Element:
    """Return the run of the last text before another run."""
    found = paragraph
    for run in _runs(paragraph):
        if run is after:
            break
        found = run
    return found


def _runs(paragraph: Element) -> Iterator[Element]:
    for segment in segments(paragraph):
        run = segment.element.getparent()
        if run is not None:
            yield run


def _markable(run: Element, paragraph: Element) -> Element:
    """Return what a mark may stand next to: the run itself unless it is one of a formula."""
    return run if run.tag == R else _outermost(run, paragraph)


def _outermost(inner: Element, paragraph: Element) -> Element:
    at = inner
    while (parent := at.getparent()) is not None and parent is not paragraph:
        at = parent
    return at


def _marks(number: str) -> tuple[Element, Element]:
    return element("commentRangeStart", id=number), element("commentRangeEnd", id=number)
