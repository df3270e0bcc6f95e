"""Looks as they are compared: what properties say, whatever the order and the words of the file."""

from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.formats.word.names import FALLBACK, P_PR, PARA_ID, R_PR, SECT_PR, TEXT_BOX, element, w
from officeplane.formats.word.review.names import CHANGES
from officeplane.formats.word.tracking.pencil import Pencil, end_of
from officeplane.formats.xml import Element

_MARKS: Final = frozenset((w("ins"), w("del"), w("moveFrom"), w("moveTo")))
_OF_PARAGRAPHS: Final = frozenset((R_PR, SECT_PR, w("pPrChange")))
_R_CHANGE: Final = w("rPrChange")


def said(one: Element) -> str:
    """Return what an element says, the same for all that say the same."""
    if not len(one) and not one.text:
        return f"{one.tag!s}{sorted(one.attrib.items())}"
    return etree.tostring(one, method="c14n", exclusive=True).decode()


def drawn(one: Element) -> str:
    """Return what something drawn says, without the texts of its boxes, which are compared by themselves."""
    if not len(one):
        return said(one)
    copy = deepcopy(one)
    copy.tail = None
    for box in [*copy.iter(TEXT_BOX, FALLBACK)]:
        parent = box.getparent()
        if parent is not None:
            parent.remove(box)
    for inner in copy.iter("*"):
        inner.attrib.pop(PARA_ID, None)
    for named in copy.iter("{*}docPr"):
        named.attrib.pop("id", None)
    return said(copy)


def look_of(properties: Element | None) -> tuple[str, ...]:
    """Return how the properties of a run, or of the end of a paragraph, have letters look."""
    if properties is None:
        return ()
    return tuple(sorted(said(one) for one in properties if one.tag not in _MARKS and one.tag != _R_CHANGE))


def form_of(paragraph: Element) -> tuple[str, ...]:
    """Return how a paragraph looks, without its letters."""
    properties = paragraph.find(P_PR)
    if properties is None:
        return ()
    return tuple(sorted(said(one) for one in properties if one.tag not in _OF_PARAGRAPHS))


def section_of(paragraph: Element) -> str:
    """Return what a paragraph says of the section that it ends; nothing if it ends none."""
    section = paragraph.find(f"{P_PR}/{SECT_PR}")
    return "" if section is None else said(section)


def plain(properties: Element | None, *, but: frozenset[str] = CHANGES | _MARKS) -> list[Element]:
    """Return copies of what properties say, without what is tracked in them."""
    return [] if properties is None else [deepcopy(one) for one in properties if one.tag not in but]


def track_form(pencil: Pencil, now: Element, was: Element) -> None:
    """Note what the form of a paragraph was, and the look of its end, where they are other now."""
    before = was.find(P_PR)
    known = None if before is None else before.find(w("pPrChange"))
    if form_of(now) != form_of(was):
        pencil.keep_before(_own(now, P_PR), "pPr", plain(before, but=CHANGES | _OF_PARAGRAPHS), known)
    elif known is not None and now.find(f"{P_PR}/{w('pPrChange')}") is None:
        _own(now, P_PR).append(known)
    end, old_end = end_of(now), end_of(was)
    if look_of(end) != look_of(old_end):
        if end is None:
            end = _end(now)
        noted = None if old_end is None else old_end.find(_R_CHANGE)
        pencil.keep_before(end, "rPr", plain(old_end), noted)


def take_form(paragraph: Element, other: Element) -> None:
    """Give a paragraph the form of another one; what ends a section stays where it is."""
    properties = _own(paragraph, P_PR)
    kept = properties.find(SECT_PR)
    for own in list(properties):
        properties.remove(own)
    theirs = other.find(P_PR)
    properties.extend(plain(theirs, but=CHANGES | _OF_PARAGRAPHS))
    look = plain(end_of(other))
    if look:
        end = element("rPr")
        end.extend(look)
        properties.append(end)
    if kept is not None:
        properties.append(kept)


def _own(paragraph: Element, tag: str) -> Element:
    found = paragraph.find(tag)
    if found is None:
        found = element("pPr")
        paragraph.insert(0, found)
    return found


def _end(paragraph: Element) -> Element:
    properties = _own(paragraph, P_PR)
    made = element("rPr")
    behind = [one for one in properties if one.tag in {SECT_PR, w("pPrChange")}]
    properties.insert(properties.index(behind[0]) if behind else len(properties), made)
    return made
