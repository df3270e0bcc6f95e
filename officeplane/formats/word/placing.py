"""Placing: where in a text something new can stand, by the node that it is to be before, after or in."""

from typing import Final, Literal, NamedTuple, TypeAlias

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.block import Block
from officeplane.formats.word.finder import Found
from officeplane.formats.word.names import FALLBACK, SDT, TBL, TC, TEXT_BOX, P, w
from officeplane.formats.word.story import Story
from officeplane.formats.xml import Element

Side: TypeAlias = Literal["before", "after", "into"]

_FIELD: Final = w("fldChar")
_CONTENT: Final = w("sdtContent")
_BOUND: Final = frozenset(
    w(name) for name in ("dataBinding", "text", "date", "dropDownList", "comboBox", "picture", "citation")
) | {"{http://schemas.microsoft.com/office/word/2010/wordml}checkbox"}
"""Controls that hold one thing, or what they are bound to."""

_TEXTS: Final = frozenset(("paragraph", "item", "heading", "chapter", "section"))
_NOTES: Final = frozenset(("footnote", "endnote"))
_NO_PLACES: Final = frozenset(
    ("row", "cell", "comment", "change", "header", "footer", "footnotes", "endnotes", *_NOTES)
)
_BLOCKS: Final = frozenset((P, TBL, SDT))


class Spot(NamedTuple):
    """A paragraph to write on in, or an element of a story to put others before or after."""

    story: Story
    element: Element
    side: Side


def spot(found: Found, side: Side) -> Spot:
    """Return where something is to stand; a node that has no such place is refused."""
    if side != "into":
        element = _out_of_controls(_beside(found, side), side)
    elif found.kind in _TEXTS:
        element = found.element
    else:
        # What holds paragraphs: its last one, if nothing is in it yet, or else behind it.
        element = _last_in(found)
        if element.tag != P or not Block(element, None).is_blank:
            element, side = _out_of_controls(element, "after"), "after"
    check_open(found, element, side)
    return Spot(found.story, element, side)


def _beside(found: Found, side: Side) -> Element:
    if found.kind in _TEXTS:
        return found.element
    around = next(found.element.iterancestors(P), None)
    if found.kind in {"page", "table"} or (found.kind == "content control" and around is None):
        return found.elements[0 if side == "before" else -1]
    if found.kind not in _NO_PLACES and around is not None:
        return around
    raise InvalidEditError(
        f"nothing can be put {side} {found.id!r}, a {found.kind}: give a paragraph, a heading, a table or a page, or "
        "a cell or header as `into`"
    )


def _last_in(found: Found) -> Element:
    held: list[Element] = []
    if found.kind in {"cell", *_NOTES}:
        held = [inner for inner in found.element if inner.tag in _BLOCKS]
    elif found.kind in {"page", "header", "footer"}:
        held = [element for element in found.elements if element.tag in _BLOCKS]
    if held:
        return held[-1]
    raise InvalidEditError(
        f"nothing can be put into {found.id!r}, a {found.kind}: give a paragraph, a heading, a cell, a page, a note, "
        "a header or a footer"
    )


def _out_of_controls(element: Element, side: Side) -> Element:
    """Return the outermost control that holds nothing but an element: what comes beside it stands beside that.

    A control without a number is known by what it begins with, so nothing is put before that in it.
    """
    around = element.getparent()
    while around is not None and around.tag == _CONTENT:
        control = around.getparent()
        if control is None or control.tag != SDT:
            break
        begins_it = side == "before" and around[0] is element and control.find(f"{w('sdtPr')}/{w('id')}") is None
        if len(around) > 1 and not begins_it:
            break
        element, around = control, control.getparent()
    return element


def check_open(found: Found, element: Element, side: Side) -> None:
    """Refuse a place in a text box, in a field, or in a control that holds one thing."""
    for around in (element, *element.iterancestors()) if side == "into" else element.iterancestors():
        if around.tag in {TEXT_BOX, FALLBACK}:
            raise InvalidEditError(f"{found.id!r} is in a text box: give the paragraph that the box stands in")
        properties = around.find(w("sdtPr")) if around.tag == SDT else None
        kinds = {str(inner.tag) for inner in (() if properties is None else properties)}
        if kinds & _BOUND:
            raise InvalidEditError(
                f"{found.id!r} is in a control that holds one thing, or what it is bound to: give the paragraph "
                "before or after it"
            )
    if _is_in_field(element, side):
        raise InvalidEditError(
            f"{found.id!r} is in a field, such as a table of contents, that would remove it when it is updated: give "
            "a paragraph outside"
        )


def _is_in_field(element: Element, side: Side) -> bool:
    """Tell whether a place is between the beginning and the end of a field."""
    marks: list[str] = []
    at: int | None = None
    inside = 0
    root = element.getroottree().getroot()
    for found in root.iter(_FIELD, str(element.tag)):
        if found is element:
            at, inside = len(marks), sum(1 for _ in element.iter(_FIELD))
        elif found.tag == _FIELD:
            marks.append(found.get(w("fldCharType"), ""))
    here = (at or 0) + (0 if side == "before" else inside)
    opened: list[int] = []
    for turn, mark in enumerate(marks):
        if mark == "begin":
            opened.append(turn)
        elif mark == "end" and opened and opened.pop() < here <= turn:
            return True
    return False


def cell_around(element: Element) -> Element | None:
    """Return the cell of a table that an element stands in."""
    return next((around for around in (element, *element.iterancestors()) if around.tag == TC), None)
