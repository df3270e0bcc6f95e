"""The finder: where in a document a node is, by the id that reading gives it.

Paragraphs, tables, rows and cells are looked up among the ids of their story, and what
edits of pages name in the structure of the body, so that an edit of one paragraph need
not make the tree of all details. Everything else is looked up in that tree.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.errors import NodeNotFoundError
from officeplane.formats.package import Package
from officeplane.formats.reading.detail import Detail
from officeplane.formats.reading.reader import found
from officeplane.formats.word.block import inside, level_of
from officeplane.formats.word.comments import Comments
from officeplane.formats.word.details import BlocksSource, ParagraphSource
from officeplane.formats.word.insets import Inset
from officeplane.formats.word.list_numbers import ListNumbers
from officeplane.formats.word.names import COMMENT_REFERENCE, FALLBACK, ID, TBL, TC, TR, P
from officeplane.formats.word.reader import WordReader
from officeplane.formats.word.stories import Stories
from officeplane.formats.word.story import Story
from officeplane.formats.word.structure import NodePlace
from officeplane.formats.xml import Element

_STAMPED: Final = re.compile(r"([ptr])-([0-9a-f]{8})(?:\.c([1-9][0-9]{0,5}))?")


@dataclass(frozen=True, slots=True)
class Found:
    """Where a node is: what it consists of, and the blocks of its story from `begin` up to `end` that hold it."""

    id: str
    kind: str
    story: Story
    begin: int
    end: int
    elements: Sequence[Element]
    """The paragraph, table, row, cell or drawing that it is; of what is a stretch of blocks, these."""
    place: NodePlace | None = None
    """Of chapters, sections, pages and tables that are pages: where the structure of the body has them."""

    @property
    def element(self) -> Element:
        """The first of what it consists of."""
        return self.elements[0]


class Finder:
    """Finds the nodes of one document as it is now; what it has found is true until the blocks change."""

    def __init__(self, package: Package, stories: Stories, comments: Comments) -> None:
        self.package = package
        self.stories = stories
        self.comments = comments
        self._numbers: ListNumbers | None = None

    def find(self, node_id: str) -> Found:
        """Return where a node is; `InvalidEditError` when there is none of this id."""
        at = self._named(node_id)
        if at is not None:
            return at
        reader = WordReader(self.package, self.stories, self.comments)
        try:
            at = self._of_detail(found(reader, node_id))
        except NodeNotFoundError as error:
            near = {} if error.nearest is None else {"nearest": error.nearest}
            raise InvalidEditError(str(error), {"nodeId": node_id, **near}) from None
        if at is None:
            raise InvalidEditError(f"{node_id!r} stands nowhere in the text: nothing can be done there")
        return at

    def look(self, node_id: str) -> Found | None:
        """Return where a node is, or None when there is none of this id."""
        try:
            return self.find(node_id)
        except InvalidEditError:
            return None

    def at(self, element: Element, kind: str, node_id: str) -> Found | None:
        """Return where an element is, as a node of this kind and id; None when it is in no story."""
        for story in self.stories.all():
            top = element
            while (parent := top.getparent()) is not None and parent is not story.container:
                top = parent
            if top.getparent() is story.container:
                begin = story.container.index(top)
                return Found(node_id, kind, story, begin, begin + 1, [element])
        return None

    def kind_of(self, paragraph: Element) -> str:
        """Tell whether a paragraph is a heading, an item of a list, or no more than a paragraph."""
        if level_of(paragraph, self.stories.styles):
            return "heading"
        if self._numbers is None:
            self._numbers = ListNumbers(self.package, self.stories.part, self.stories.styles)
        # Whether it has a number is asked, not which: that takes counting from the beginning.
        return "paragraph" if self._numbers.of(paragraph) is None else "item"

    def _named(self, node_id: str) -> Found | None:
        named = _STAMPED.fullmatch(node_id)
        if named is not None:
            return self._stamped(node_id, named)
        place = self.stories.body.structure.by_id.get(node_id)
        if place is not None:
            return self._of_place(place)
        for aside in self.stories.asides:
            if aside.id == node_id:
                blocks = aside.story.blocks
                return Found(node_id, aside.kind, aside.story, 0, len(blocks), [block.element for block in blocks])
        return None

    def _of_place(self, place: NodePlace) -> Found:
        story = self.stories.body.story
        blocks = story.blocks[place.begin : place.end]
        elements = [block.element for block in blocks if block.is_content]
        if place.is_heading:
            elements[0] = blocks[0].paragraph
        return Found(place.id, place.kind, story, place.begin, place.end, elements, place)

    def _stamped(self, node_id: str, named: re.Match[str]) -> Found | None:
        for story in self.stories.all():
            element = story.ids.find(named[2])
            if element is not None and (is_it := _meant(element, named)) is not None:
                kind = {TBL: "table", TR: "row", TC: "cell"}.get(str(is_it.tag)) or self.kind_of(is_it)
                return self._with_place(self.at(is_it, kind, node_id))
        return None

    def _with_place(self, at: Found | None) -> Found | None:
        """Return a place of the body for what is one by another name: a heading, or the table of a page."""
        body = self.stories.body
        if at is None or at.story is not body.story or at.kind not in {"heading", "table"}:
            return at
        place = body.structure.at(at.begin)
        if place is None:
            return at
        is_heading = place.is_heading and place.begin == at.begin
        is_table = place.kind == "table" and at.element.getparent() is body.story.container
        return self._of_place(place) if is_heading or is_table else at

    def _of_detail(self, detail: Detail) -> Found | None:
        source = detail.source
        if isinstance(source, BlocksSource):
            return self._of_blocks(detail, source)
        if isinstance(source, ParagraphSource | Inset):
            return self.at(source.element, detail.kind, detail.id)
        if isinstance(source, str):
            for story in self.stories.all():
                for mark in story.root.iter(COMMENT_REFERENCE):
                    if mark.get(ID) == source and next(mark.iterancestors(FALLBACK), None) is None:
                        return self.at(mark, detail.kind, detail.id)
            return None
        return self.at(source, detail.kind, detail.id)

    def _of_blocks(self, detail: Detail, source: BlocksSource) -> Found | None:
        first = self.at(source.blocks[0].element, detail.kind, detail.id) if source.blocks else None
        if first is None:
            return None
        elements = [block.element for block in source.blocks]
        return Found(detail.id, detail.kind, first.story, first.begin, first.begin + len(elements), elements)


def _meant(element: Element, named: re.Match[str]) -> Element | None:
    """Return what an id names that has the number of an element: itself, its table, or one of its cells."""
    if named[1] == "p":
        return element if element.tag == P and named[3] is None else None
    if element.tag != TR:
        return None
    if named[1] == "r":
        if named[3] is None:
            return element
        cells = [*inside(element, TC)]
        return cells[int(named[3]) - 1] if int(named[3]) <= len(cells) else None
    table = next(element.iterancestors(TBL), None)
    return table if named[3] is None and table is not None and next(inside(table, TR), None) is element else None
