"""Stretches: which letters of which paragraph are meant, and how something is put beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.search import Wanted
from officeplane.formats.word.choosing import nth_of, places_of
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.names import FALLBACK, P_PR, R_PR, TEXT_BOX, P, R, w
from officeplane.formats.word.segments import run_at, segments, text_of
from officeplane.formats.word.story import Story
from officeplane.formats.xml import Element

_NOTES: Final = frozenset((w("footnoteReference"), w("endnoteReference")))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Letters of a paragraph, from one up to another."""

    found: Found
    """The node that was named."""
    story: Story
    paragraph: Element
    begin: int
    end: int


def stretch_of(finder: Finder, node_id: str, find: str | None, nth: int | None) -> Stretch:
    """Return where a text stands in a node, for the first or the nth time; without one, all of its last paragraph."""
    found = finder.find(node_id)
    if find is None:
        paragraph = paragraphs_of(found)[-1]
        story, begin, end = found.story, 0, len(text_of(paragraph))
    else:
        places = nth_of(places_of(Wanted(find, under=node_id), finder), nth or 1)
        if not places:
            times = "" if nth is None else f" {nth} times"
            raise InvalidEditError(f"{find!r} does not stand{times} in {node_id!r}; `find` tells where it stands")
        story, hits = places[0]
        paragraph, (begin, end) = hits[0].paragraph, hits[0].matches[0].span
    _check_box(found, paragraph)
    return Stretch(found, story, paragraph, begin, end)


def paragraphs_of(found: Found) -> Sequence[Element]:
    """Return the paragraphs of a node, of a heading itself alone."""
    _check_box(found, found.element)
    is_heading = found.place is not None and found.place.is_heading
    elements = found.elements[:1] if is_heading else found.elements
    paragraphs = [
        one for held in elements for one in held.iter(P) if next(one.iterancestors(TEXT_BOX, FALLBACK), None) is None
    ]
    if not paragraphs:
        raise InvalidEditError(f"{found.id!r} is a {found.kind}: give the paragraph that it stands in")
    return paragraphs


def put_behind(paragraph: Element, offset: int, made: Element) -> None:
    """Put something behind a letter of a paragraph, out of links and insertions that end there."""
    following = run_at(paragraph, offset)
    at = 0
    before: Element | None = None
    for segment in segments(paragraph):
        at += len(segment.text)
        if at > offset:
            break
        before = segment.element.getparent()
    if before is None:
        properties = paragraph.find(P_PR)
        paragraph.insert(0 if properties is None else 1, made)
        return
    goes_on = {following, *(() if following is None else following.iterancestors())}
    while (around := before.getparent()) is not None and around is not paragraph and around not in goes_on:
        before = around
    while (other := before.getnext()) is not None and _is_mark_of_note(other):
        before = other
    before.addnext(made)


def _is_mark_of_note(run: Element) -> bool:
    held = [one.tag for one in run if one.tag != R_PR]
    return run.tag == R and bool(held) and all(tag in _NOTES for tag in held)


def _check_box(found: Found, element: Element) -> None:
    if next(element.iterancestors(TEXT_BOX, FALLBACK), None) is not None:
        raise InvalidEditError(
            f"{found.id!r} is in a text box, where notes, links and bookmarks are not set: name a paragraph outside"
        )
