"""Duplicating: a node with all below it once more, right behind it, under ids of its own."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.block import level_of
from officeplane.formats.word.bookmarks import RANGE_MARKS
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.names import (
    COMMENT_REFERENCE,
    ID,
    PARA_ID,
    SDT,
    SECT_PR,
    TBL,
    TR,
    VAL,
    P,
    element_name,
    w,
)
from officeplane.formats.word.nodes.boxes import copy_boxes
from officeplane.formats.word.nodes.deleting import columns_of
from officeplane.formats.word.nodes.extents import extent
from officeplane.formats.word.nodes.inserting import node_id_of
from officeplane.formats.word.nodes.moving import settle
from officeplane.formats.word.nodes.rewriting import drop_empty
from officeplane.formats.word.preserved_marks import check_fields
from officeplane.formats.word.story import Story
from officeplane.formats.word.styles import CHAPTER_LEVEL, SECTION_LEVEL
from officeplane.formats.xml import Element

_COPIED: Final = frozenset(("paragraph", "heading", "item", "table", "row", "chapter", "section", "page"))
_NOTES: Final = {w("footnoteReference"): w("footnote"), w("endnoteReference"): w("endnote")}
_CHANGES: Final = frozenset(
    w(name)
    for name in (
        "ins", "del", "moveFrom", "moveTo", "rPrChange", "pPrChange", "tblPrChange", "tblGridChange", "tblPrExChange",
        "trPrChange", "tcPrChange", "numberingChange", "cellIns", "cellDel", "cellMerge",
    )
)  # fmt: skip
_NUMBERED: Final = _CHANGES | RANGE_MARKS
_TEXT_ID: Final = PARA_ID.replace("paraId", "textId")
_KINDS: Final = {CHAPTER_LEVEL: "chapter", SECTION_LEVEL: "section"}


@dataclass(frozen=True, slots=True)
class Copy:
    """What was copied: its paragraphs, tables and rows; chapters, sections and a page have ids already."""

    story: Story
    elements: Sequence[Element]
    known: dict[Element, str]
    page: str | None

    def ids(self) -> list[str]:
        """Return their ids, once they are named; the page first if it is one."""
        named = [one for one in self.elements if one.tag in {P, TBL, TR}]
        ids = [self.known.get(one) or _id_of(self.story, one) for one in named]
        return [self.page, *ids] if self.page is not None else ids


class Duplicating:
    """Copies nodes; `fresh_id` gives ids to chapters, sections and pages."""

    def __init__(self, finder: Finder, fresh_id: Callable[[str], str]) -> None:
        self._finder = finder
        self._fresh_id = fresh_id

    def duplicate(self, node_id: str) -> Copy:
        """Put a copy of a node behind it."""
        found = self._finder.find(node_id)
        if found.kind not in _COPIED:
            raise InvalidEditError(
                f"{node_id!r} is a {found.kind}: paragraphs, headings, tables, rows and pages can be copied"
            )
        elements = extent(self._finder, found)
        check_fields(elements)
        self._finder.stories.stamp(found.story)
        originals = [one for one in extent(self._finder, self._finder.find(node_id)) if one.tag not in RANGE_MARKS]
        copies = [self._copied(one) for one in originals]
        self._copy_notes(copies)
        self._number_drawings(copies)
        self._number_changes(found.story, copies)
        return self._put(self._finder.find(node_id), originals, copies)

    def _copied(self, original: Element) -> Element:
        copy = deepcopy(original)
        copy.tail = None
        for one in [*copy.iter(P, TR)]:
            one.attrib.pop(PARA_ID, None)
            one.attrib.pop(_TEXT_ID, None)
        for mark in [*copy.iter(*RANGE_MARKS, COMMENT_REFERENCE, SECT_PR)]:
            parent = mark.getparent()
            if parent is not None:
                parent.remove(mark)
                drop_empty(parent, copy)
        for control in copy.iter(SDT):
            for properties in control.iterchildren(w("sdtPr")):
                for number in properties.findall(ID):
                    properties.remove(number)
        return copy

    def _copy_notes(self, copies: Sequence[Element]) -> None:
        for mark in [mark for copy in copies for mark in copy.iter(*_NOTES)]:
            tag = _NOTES[str(mark.tag)]
            story = next(
                (one for one in self._notes() if next(one.container.iterchildren(tag), None) is not None), None
            )
            notes = [] if story is None else [*story.container.iterchildren(tag)]
            note = next((one for one in notes if one.get(ID) == mark.get(ID)), None)
            if story is None or note is None:
                continue
            self._finder.stories.stamp(story)
            highest = max(int(one.get(ID, "0")) for one in notes if one.get(ID, "").lstrip("-").isdecimal())
            copy = self._copied(note)
            copy.set(ID, str(highest + 1))
            mark.set(ID, str(highest + 1))
            story.insert(len(story.blocks), [copy])

    def _notes(self) -> list[Story]:
        return [aside.story for aside in self._finder.stories.asides if aside.kind in {"footnotes", "endnotes"}]

    def _number_drawings(self, copies: Sequence[Element]) -> None:
        drawn = [one for copy in copies for one in copy.iter() if element_name(one) == "docPr"]
        if not drawn:
            return
        known = [one for story in self._finder.stories.all() for one in story.root.iter("{*}docPr")]
        highest = max((int(one.get("id", "0")) for one in known if one.get("id", "").isdecimal()), default=0)
        for number, one in enumerate(drawn, highest + 1):
            one.set("id", str(number))

    def _number_changes(self, story: Story, copies: Sequence[Element]) -> None:
        """Give tracked changes numbers of their own: they share these with bookmarks."""
        changes = [one for copy in copies for one in copy.iter() if one.get(ID) is not None and one.tag in _CHANGES]
        if not changes:
            return
        known = (one.get(ID, "") for one in story.root.iter() if one.tag in _NUMBERED)
        highest = max((int(one) for one in known if one.isdecimal()), default=0)
        for number, one in enumerate(changes, highest + 1):
            one.set(ID, str(number))

    def _put(self, found: Found, originals: Sequence[Element], copies: list[Element]) -> Copy:
        body = self._finder.stories.body
        is_top = found.story is body.story and originals[0].getparent() is body.story.container
        if is_top and found.kind == "page":
            page = self._fresh_id("page")
            body.insert_page(found.end, copies, page)
            return Copy(found.story, copies, {}, page)
        if is_top:
            # A control may hold a heading and nothing else.
            held = [next(one.iter(P), one) if one.tag == SDT else one for one in copies]
            levels = [(one, level_of(one, self._finder.stories.styles)) for one in held if one.tag == P]
            headings = [(one, self._fresh_id(_KINDS[level])) for one, level in levels if level in _KINDS]
            at = body.story.container.index(originals[-1]) + 1 if found.place is None else found.end
            body.insert(at, copies, headings)
            return Copy(found.story, held, dict(headings), None)
        for one in reversed(copies):
            originals[-1].addnext(one)
        holder = originals[-1].getparent()
        if found.kind == "row":
            _go_on_merged(copies[0])
        elif holder is not None:
            settle(holder, is_text=False)
        copy_boxes(originals[-1])
        found.story.reread({block.element for block in found.story.blocks[found.begin : found.end]})
        return Copy(found.story, copies, {}, None)


def _go_on_merged(copy: Element) -> None:
    """Have the cells of a copied row go on with merged ones that go on below it, too."""
    following = next(copy.itersiblings(TR), None)
    below = {} if following is None else dict(columns_of(following))
    for column, cell in columns_of(copy):
        merge, other = (_merge(one) for one in (cell, below.get(column)))
        if merge is not None and other is not None and other.get(VAL, "continue") == "continue":
            merge.attrib.pop(VAL, None)


def _merge(cell: Element | None) -> Element | None:
    return None if cell is None else cell.find(f"{w('tcPr')}/{w('vMerge')}")


def _id_of(story: Story, one: Element) -> str:
    return f"r-{story.ids.of(one)}" if one.tag == TR else node_id_of(story, one)
