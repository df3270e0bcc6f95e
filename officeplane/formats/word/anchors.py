"""Anchors: the stretch of a text that a comment is about, marked, read and taken back."""

from collections.abc import Iterable, Iterator
from typing import Final

from officeplane.formats.word.names import COMMENT_REFERENCE, FALLBACK, ID, P_PR, P, R, T, element, w
from officeplane.formats.word.segments import run_at, segments
from officeplane.formats.word.stories import Stories
from officeplane.formats.xml import Element

_START: Final = w("commentRangeStart")
_END: Final = w("commentRangeEnd")
_TOLD_MAX: Final = 200


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


def anchor_inside(paragraph: Element, held: Element, number: str, reference: Element) -> None:
    """Mark something that a paragraph holds, such as a picture; what is said of the paragraph is all of it."""
    top = _outermost(held, paragraph)
    if top.tag == P_PR:
        anchor_around(paragraph, paragraph, number, reference)
        return
    begin, end = _marks(number)
    top.addprevious(begin)
    top.addnext(end)
    end.addnext(reference)


def anchor_beside(answered: Iterable[Element], number: str, reference: Element) -> None:
    """Mark what another comment is about, by its marks."""
    begin, end = _marks(number)
    for mark in answered:
        if mark.tag == _START:
            mark.addnext(begin)
        elif mark.tag == COMMENT_REFERENCE:
            paragraph = next(mark.iterancestors(P), None)
            if paragraph is None:
                continue
            _outermost(mark, paragraph).addnext(reference)
            if begin.getparent() is not None:
                reference.addprevious(end)


def marks_of(stories: Stories, numbers: Iterable[str]) -> Iterator[Element]:
    """Yield all marks of comments in all texts: where each begins and ends, and what refers to it."""
    wanted = {*numbers}
    for story in stories.all():
        yield from (mark for mark in story.root.iter(_START, _END, COMMENT_REFERENCE) if mark.get(ID) in wanted)


def is_shown(mark: Element) -> bool:
    """Tell whether a mark stands in the text itself, not in the copy that only old programs show."""
    return next(mark.iterancestors(FALLBACK), None) is None


def words_about(stories: Stories) -> dict[str, str]:
    """Return the words that each comment is about, by its number; long ones are cut."""
    told: dict[str, str] = {}
    for story in stories.all():
        for mark in story.root.iter(_START):
            if is_shown(mark):
                words = _words_behind(mark)
                told.setdefault(mark.get(ID, ""), words if len(words) <= _TOLD_MAX else words[: _TOLD_MAX - 1] + "…")
    return told


def _words_behind(mark: Element) -> str:
    said = ""
    for held in _behind(mark):
        if held.tag == _END and held.get(ID) == mark.get(ID):
            return said.strip("\n")
        if held.tag == P and said:
            said += "\n"
        elif held.tag == T and is_shown(held):
            said += held.text or ""
        if len(said) > _TOLD_MAX:
            break
    return said


def _behind(mark: Element) -> Iterator[Element]:
    for around in (mark, *mark.iterancestors()):
        for beside in around.itersiblings():
            yield from beside.iter()


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
