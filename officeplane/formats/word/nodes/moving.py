"""Moving: a node with all below it stands elsewhere in its story, and keeps its ids."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.block import inside, level_of
from officeplane.formats.word.bookmarks import RANGE_MARKS
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.names import ID, P_PR, SECT_PR, TBL, TC, TEXT_BOX, TR, P, element, element_name, w
from officeplane.formats.word.nodes.boxes import copy_boxes
from officeplane.formats.word.nodes.extents import extent
from officeplane.formats.word.nodes.inserting import Side
from officeplane.formats.word.nodes.spots import Spot, spot_beside
from officeplane.formats.word.preserved_marks import check_fields
from officeplane.formats.xml import Element

_MOVABLE: Final = frozenset(("paragraph", "heading", "item", "table", "chapter", "section", "page"))
_NEED_PARAGRAPHS: Final = frozenset((TC, TEXT_BOX, w("footnote"), w("endnote"), w("sdtContent"), w("hdr"), w("ftr")))


class Moving:
    """Moves nodes."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder

    def move(self, node_id: str, beside: str, side: Side) -> None:
        """Put a node beside another one, or to its end."""
        found, other = self._finder.find(node_id), self._finder.find(beside)
        if found.story is not other.story:
            raise InvalidEditError(f"{node_id!r} and {beside!r} are in different parts: a node moves within its text")
        if found.kind == "row":
            self._move_row(found, other, side)
            return
        if found.kind not in _MOVABLE:
            raise InvalidEditError(f"{node_id!r} is a {found.kind}: paragraphs, headings, tables, rows and pages move")
        elements = extent(self._finder, found)
        if any(
            one in elements or any(around in elements for around in one.iterancestors()) for one in other.elements[:1]
        ):
            raise InvalidEditError(f"{beside!r} is {node_id!r}, or in it: a node cannot move into itself")
        check_whole(elements, node_id)
        self._finder.stories.stamp(found.story)
        found = self._kept(found)
        if found.place is not None and found.place.is_heading and other.place is not None:
            self._finder.stories.body.pin(self._finder.find(beside).begin + 1)
            found = self._finder.find(node_id)
        elements = extent(self._finder, found)
        spot = spot_beside(self._finder, self._finder.find(beside), side, self._level(found))
        if found.place is not None and found.place.is_heading and spot.parent is not found.story.container:
            raise InvalidEditError(f"{node_id!r} is a {found.kind} and stands in no cell, note or box")
        self._put(found, elements, spot)

    def _kept(self, found: Found) -> Found:
        """Return where a place is once it keeps its id wherever it goes."""
        if found.place is None or found.story is not self._finder.stories.body.story:
            return found
        body = self._finder.stories.body
        body.pin(found.begin + 1)
        place = body.place(found.id)
        below = [one for one in body.structure.by_id.values() if place.begin <= one.begin < place.end]
        body.remember([one for one in below if one.is_heading and one.is_derived])
        return self._finder.find(found.id)

    def _level(self, found: Found) -> int:
        if found.place is not None:
            return found.story.blocks[found.begin].level if found.place.is_heading else 0
        return level_of(found.element, self._finder.stories.styles) if found.kind == "heading" else 0

    def _put(self, found: Found, elements: Sequence[Element], spot: Spot) -> None:
        if spot.following in elements:
            return
        source = elements[0].getparent()
        spot.put(elements)
        for holder in dict.fromkeys((source, spot.parent)):
            if holder is not None:
                settle(holder, is_text=holder is found.story.container)
                copy_boxes(holder)
        found.story.reread({block.element for block in found.story.blocks})

    def _move_row(self, found: Found, other: Found, side: Side) -> None:
        table = next(found.element.iterancestors(TBL))
        if other.kind != "row" or side == "into" or next(other.element.iterancestors(TBL)) is not table:
            raise InvalidEditError(f"{found.id!r} is a row: it moves before or after a row of its table")
        if found.element is other.element:
            raise InvalidEditError(f"{found.id!r} cannot move beside itself")
        if next(table.iter(w("vMerge")), None) is not None:
            raise InvalidEditError(f"the table of {found.id!r} has cells merged over rows: take them apart first")
        check_whole([found.element], found.id)
        rows = [*inside(table, TR)]
        if any(one.getparent() is not table for one in (rows[0], found.element, other.element)):
            raise InvalidEditError(f"{found.id!r} or {other.id!r} is in a control around rows: move it in Word")
        self._finder.stories.stamp(found.story)
        if side == "before":
            other.element.addprevious(found.element)
        else:
            other.element.addnext(found.element)
        copy_boxes(table)
        found.story.touch(found.begin)


def check_whole(elements: Sequence[Element], node_id: str) -> None:
    """Refuse to part fields, and stretches that reach further, such as bookmarks and comments, or ends of sections."""
    check_fields(elements)
    balance: Counter[tuple[str, str]] = Counter()
    for one in elements:
        for mark in one.iter(*RANGE_MARKS):
            name = element_name(mark)
            kind = name.removesuffix("Start").removesuffix("End")
            balance[kind, mark.get(ID, "")] += 1 if name.endswith("Start") else -1
        for section in one.iter(SECT_PR):
            parent = section.getparent()
            if section is one or (parent is not None and parent.tag == P_PR):
                raise InvalidEditError(
                    f"{node_id!r} holds the end of a section, and with that the paper of what is before it: move what "
                    "is around it"
                )
    for (kind, number), left in balance.items():
        if left:
            what = {"bookmark": "a bookmark", "commentRange": "the text of a comment"}.get(kind, "a marked stretch")
            raise InvalidEditError(f"{what} (number {number}) reaches out of {node_id!r}: name all of what it is about")


def settle(holder: Element, *, is_text: bool) -> None:
    """Have no two tables touch, and a paragraph where one is needed."""
    for held in list(holder):
        following = held.getnext()
        is_end = following is None or following.tag == SECT_PR
        is_before_table = following is not None and following.tag == TBL
        if held.tag == TBL and (is_before_table or (is_end and (is_text or holder.tag == TC))):
            held.addnext(element("p"))
    if holder.tag in _NEED_PARAGRAPHS and holder.find(P) is None:
        holder.append(element("p"))
