"""The structure of a text: chapters, sections and pages as stretches of its blocks.

A heading of level 1 begins a chapter, one of level 2 a section. What stands below
a heading is in pages: those that were written here are marked by bookmarks, and
what lies between them, somebody else's text, is one page for each stretch. Such a
page gets its id from its heading and its turn, so that it keeps it while its text
changes; a heading gets it from its bookmark, from Word's own paragraph id, or else
from what it says.
"""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias

from officeplane.formats.word.block import Block
from officeplane.formats.word.bookmarks import HEADINGS, number_of
from officeplane.formats.word.styles import CHAPTER_LEVEL, SECTION_LEVEL
from officeplane.formats.xml import Element

Marks: TypeAlias = tuple[Element, Element | None]
"""The beginning and the end of a node's bookmark."""


@dataclass(slots=True, eq=False)
class NodePlace:
    """Where a node is: its blocks from `begin` up to `end`, its heading and its pages among them."""

    id: str
    kind: str
    begin: int
    end: int
    owner: str
    """The id of the heading above it; the document itself is the empty one."""
    children: list["NodePlace"] = field(default_factory=list["NodePlace"])
    marks: Marks | None = None
    is_derived: bool = True
    """Whether the id comes from what the node says and changes with it."""

    @property
    def is_heading(self) -> bool:
        """Tell whether it is a heading with what stands below it."""
        return self.kind in {"chapter", "section"}

    @property
    def pages_end(self) -> int:
        """Where the pages of a heading end and its sections begin."""
        return next((inner.begin for inner in self.children if inner.kind == "section"), self.end)


class Structure:
    """The places of one text as it is now."""

    def __init__(self, blocks: Sequence[Block], end: int) -> None:
        self._blocks = blocks
        self.end = end
        self.root = NodePlace("", "document", -1, self.end, "")
        self.by_id: dict[str, NodePlace] = {}
        self._chapter: NodePlace | None = None
        self._flat: list[NodePlace] = []
        self._turns: dict[tuple[str, str], int] = {}
        self._named = {node_id for block in blocks if block.openings for node_id, _ in block.openings}
        ends = {closing.number for block in blocks if block.closings for closing in block.closings}
        self._closable = {
            node_id for block in blocks if block.openings for node_id, mark in block.openings if number_of(mark) in ends
        }
        self._open_name = ""
        self._open_numbers: set[int] = set()
        self._build()
        self._begins = [place.begin for place in self._flat]

    def at(self, block: int) -> NodePlace | None:
        """Return the heading or the page that a block belongs to."""
        found = bisect_right(self._begins, block) - 1
        return self._flat[found] if found >= 0 else None

    def take_in(self, page_id: str, begin: int, blocks: int, marks: Marks) -> bool:
        """Note that a marked page came between others; False when only building anew tells what that means."""
        before = self.at(begin - 1)
        if page_id in self.by_id or (before is not None and not before.is_heading and before.end > begin):
            return False
        owner = self.root
        self.root.end = self.end = self.end + blocks
        for place in self._flat:
            if place.begin >= begin:
                place.begin += blocks
                place.end += blocks
            elif place.end >= begin and place.is_heading:
                place.end += blocks
                owner = place
        page = NodePlace(page_id, _page_kind(page_id), begin, begin + blocks, owner.id, marks=marks, is_derived=False)
        among = next((i for i, inner in enumerate(owner.children) if inner.begin > begin), len(owner.children))
        owner.children.insert(among, page)
        self._flat.insert(bisect_left(self._begins, begin), page)
        self._begins = [place.begin for place in self._flat]
        self.by_id[page_id] = page
        return True

    def resize(self, page: NodePlace, blocks: int, marks: Marks) -> None:
        """Note that a page consists of so many blocks now, and that nothing else is other than it was."""
        begin, end = page.begin, page.end
        more = begin + blocks - end
        page.marks = marks
        self.root.end = self.end = self.end + more
        for place in self._flat:
            if place.begin > begin:
                place.begin += more
                place.end += more
            elif place.end >= end:
                place.end += more
        self._begins = [place.begin for place in self._flat]

    def owner_of(self, place: NodePlace) -> NodePlace:
        """Return the heading above a node, or the document."""
        return self.by_id[place.owner] if place.owner else self.root

    def unmarked(self, owner: NodePlace) -> Iterator[NodePlace]:
        """Yield the pages of a heading that nothing but their turn gives an id."""
        yield from (page for page in owner.children if page.kind == "page" and page.marks is None)

    def _build(self) -> None:
        owner = self.root
        begin = 0
        page: NodePlace | None = None
        for i in [i for i, block in enumerate(self._blocks) if block.is_landmark]:
            block = self._blocks[i]
            if 0 < block.level <= SECTION_LEVEL:
                if page is None:
                    self._close_gap(owner, begin, i)
                else:
                    page.end = i
                for closing in block.closings:
                    self._note_end(page, closing.mark, closing.number)
                owner = self._heading(i, block, owner)
                begin, page = i + 1, None
                for node_id, mark in block.openings:
                    if not node_id.startswith(HEADINGS) and page is None:
                        page = self._open(owner, node_id, mark, i + 1)
                continue
            for closing in block.closings:
                if closing.is_leading and self._note_end(page, closing.mark, closing.number) and page is not None:
                    page.end = begin = i + 1 if closing.mark is block.element else i
                    page = None
            for node_id, mark in block.openings:
                if page is not None and node_id == self._open_name:
                    # LibreOffice begins a bookmark once more where it ends, and only that one has an end.
                    self._open_numbers.add(number_of(mark))
                elif page is None and not node_id.startswith(HEADINGS):
                    self._close_gap(owner, begin, i)
                    page = self._open(owner, node_id, mark, i)
                    if node_id not in self._closable:
                        page.end = begin = i + 1
                        page = None
            for closing in block.closings:
                if not closing.is_leading and self._note_end(page, closing.mark, closing.number) and page is not None:
                    page.end = begin = i + 1
                    page = None
        if page is None:
            self._close_gap(owner, begin, self.end)
        else:
            page.end = self.end

    def _note_end(self, page: NodePlace | None, mark: Element, number: int) -> bool:
        if page is None or page.marks is None or number not in self._open_numbers:
            return False
        page.marks = page.marks[0], mark
        return True

    def _heading(self, i: int, block: Block, before: NodePlace) -> NodePlace:
        is_chapter = block.level == CHAPTER_LEVEL
        if before.kind == "section":
            before.end = i
        if is_chapter and self._chapter is not None:
            self._chapter.end = i
        parent = self.root if is_chapter or self._chapter is None else self._chapter
        kind = "chapter" if is_chapter else "section"
        node_id, is_derived = self._heading_id(kind, block)
        place = NodePlace(node_id, kind, i, self.end, parent.id, is_derived=is_derived)
        self._add(parent, place)
        if is_chapter:
            self._chapter = place
        return place

    def _heading_id(self, kind: str, block: Block) -> tuple[str, bool]:
        for node_id, _ in block.openings:
            if node_id.startswith(HEADINGS) and node_id not in self.by_id:
                return node_id, False
        if block.para_id:
            node_id = f"{kind}-{block.para_id.lower()}"
            if node_id not in self.by_id:
                return node_id, False
        return self._derived(kind, block.text), True

    def _open(self, owner: NodePlace, node_id: str, mark: Element, begin: int) -> NodePlace:
        number = 1
        unique = self._open_name = node_id
        self._open_numbers = {number_of(mark)}
        while unique in self.by_id:
            number += 1
            unique = f"{node_id}_{number}"
        page = NodePlace(unique, _page_kind(unique), begin, self.end, owner.id, marks=(mark, None), is_derived=False)
        self._add(owner, page)
        return page

    def _close_gap(self, owner: NodePlace, begin: int, end: int) -> None:
        for i in range(begin, end):
            if self._blocks[i].is_content:
                break
        else:
            return
        self._add(owner, NodePlace(self._derived("page", owner.id), "page", begin, end, owner.id))

    def _derived(self, kind: str, fact: str) -> str:
        """Return an id from a fact and its turn among equals, passing over those that are kept in bookmarks."""
        while True:
            turn = self._turns[kind, fact] = self._turns.get((kind, fact), -1) + 1
            node_id = f"{kind}-{_digest(kind, fact, turn)}"
            if node_id not in self._named and node_id not in self.by_id:
                return node_id

    def _add(self, owner: NodePlace, place: NodePlace) -> None:
        owner.children.append(place)
        self._flat.append(place)
        self.by_id[place.id] = place


def _page_kind(node_id: str) -> str:
    return "table" if node_id.startswith("table-") else "page"


@lru_cache(maxsize=32_768)
def _digest(kind: str, fact: str, turn: int) -> str:
    return hashlib.sha256(f"{kind}\0{fact}\0{turn}".encode()).hexdigest()[:12]
