"""The bookmarks that tell where nodes are: put around them, found wherever Word moved them, taken away."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Final

from officeplane.formats.word.block import Block
from officeplane.formats.word.bookmarks import around, free_number, number_of
from officeplane.formats.word.names import BOOKMARK_END, BOOKMARK_START, ID, NAME, P_PR
from officeplane.formats.word.story import Story
from officeplane.formats.word.structure import NodePlace
from officeplane.formats.xml import Element

_HIGHEST: Final[Callable[[Block], int]] = attrgetter("highest")


class NodeBookmarks:
    """The bookmarks of the nodes of one story; `highest` is the highest number in the others."""

    def __init__(self, story: Story, highest: int) -> None:
        self._story = story
        self._highest = highest

    def around(self, elements: Sequence[Element], node_id: str, taken: int = -1) -> list[Element]:
        """Return new elements, which may hold bookmarks that stay, between the marks of a node.

        Their number is above `taken`, as when a suggestion has to tell them from those that the node had.
        """
        begin, end = around(node_id, free_number(max(taken, self.highest_number(elements)), self._story.root))
        return [begin, *elements, end]

    def put_inside(self, heading: Element, node_id: str) -> None:
        """Mark the text of a heading."""
        self.put_inside_each([(heading, node_id)])

    def put_inside_each(self, headings: Iterable[tuple[Element, str]]) -> None:
        """Mark the texts of headings, each with its id; the numbers taken are looked for once."""
        taken = self.highest_number()
        for heading, node_id in headings:
            number = free_number(taken, self._story.root)
            taken = max(taken, number)
            begin, end = around(node_id, number)
            properties = heading.find(P_PR)
            heading.insert(0 if properties is None else heading.index(properties) + 1, begin)
            heading.append(end)

    def put_around(self, pages: Sequence[NodePlace]) -> None:
        """Mark pages that were only known by their turn; there may be thousands, in order."""
        taken = self.highest_number()
        for page in reversed(pages):
            number = free_number(taken, self._story.root)
            taken = max(taken, number)
            begin, end = around(page.id, number)
            self._story.insert(page.end, [end])
            self._story.insert(page.begin, [begin])

    def is_whole(self, page: NodePlace) -> bool:
        """Tell whether the bookmark of a page is around its blocks, as it was made here."""
        blocks = self._story.blocks
        return page.marks is not None and (blocks[page.begin].element, blocks[page.end - 1].element) == page.marks

    def mark_in(self, page: NodePlace, at: int, *, opening: bool) -> Element | None:
        """Return the mark of a page that stands inside a block, rather than beside it."""
        mark = None if page.marks is None else page.marks[0 if opening else 1]
        if mark is None or (top := self._top_of(mark)) is mark:
            return None
        return mark if top is self._story.blocks[at].element else None

    def remove(self, page: NodePlace) -> tuple[int, int]:
        """Take away the marks of a page; return where its blocks are then."""
        begin, end = page.begin, page.end
        if page.marks is None:
            return begin, end
        for mark in self._marks(page, *page.marks):
            top = self._top_of(mark)
            at = self._story.container.index(top)
            if top is mark:
                self._story.remove(at, at + 1)
                begin -= at < begin
                end -= at < end
            else:
                parent = mark.getparent()
                if parent is not None:
                    parent.remove(mark)
                self._story.touch(at)
        return begin, end

    def _marks(self, page: NodePlace, first: Element, last: Element | None) -> list[Element]:
        """Return all marks of a page, those too that another program put at the beginnings and ends of its own."""
        inside = self._story.blocks[page.begin : page.end]
        again = [mark for block in inside for _, mark in block.openings if mark.get(NAME) == first.get(NAME)]
        if last is not None and len(again) < 2:
            return [last, first]
        starts = dict.fromkeys([first, *again])
        numbers = {mark.get(ID) for mark in starts}
        return [*(mark for mark in self._story.root.iter(BOOKMARK_END) if mark.get(ID) in numbers), *starts]

    def release(self, page: NodePlace) -> int:
        """Bring back the end of a page that Word put into what follows; return how many blocks came."""
        mark = None if page.marks is None else page.marks[1]
        if mark is None:
            return 0
        top = self._top_of(mark)
        found = self._story.container.index(top)
        parent = mark.getparent()
        if top is mark or found < page.end or parent is None:
            return 0
        parent.remove(mark)
        mark.tail = None
        self._story.touch(found)
        self._story.insert(page.end, [mark])
        return 1

    def _top_of(self, mark: Element) -> Element:
        top = mark
        while (parent := top.getparent()) is not None and parent is not self._story.container:
            top = parent
        return top

    def highest_number(self, elements: Sequence[Element] = ()) -> int:
        """Return the highest number that a bookmark has, also in elements that are not in the text yet."""
        highest = max(map(_HIGHEST, self._story.blocks), default=-1)
        kept = max((number_of(mark) for made in elements for mark in made.iter(BOOKMARK_START)), default=-1)
        return max(highest, kept, self._highest)
