"""The body: the text of a document, and how stretches of it come, change and go."""

from collections import Counter
from collections.abc import Callable, Sequence

from officeplane.domain.document import InvalidEditError
from officeplane.formats.word.block import Block
from officeplane.formats.word.comments import comment_id
from officeplane.formats.word.names import TBL, P, child, element
from officeplane.formats.word.node_bookmarks import NodeBookmarks
from officeplane.formats.word.preserved_marks import PreservedMarks, check_fields, marks_to_preserve
from officeplane.formats.word.story import Story
from officeplane.formats.word.structure import NodePlace, Structure
from officeplane.formats.xml import Element, take_off


class Body:
    """One story with its structure.

    `highest` is the highest number of a bookmark in the other stories, `beside` tells the kind of a node
    that is another story.
    """

    def __init__(self, story: Story, highest: int, beside: Callable[[str], str | None]) -> None:
        self.story = story
        self._beside = beside
        self._bookmarks = NodeBookmarks(story, highest)
        self._structure = Structure(story.blocks, story.end)
        self._version = story.version

    @property
    def structure(self) -> Structure:
        """The places as they are now."""
        if self._version != self.story.version:
            self._structure = Structure(self.story.blocks, self.story.end)
            self._version = self.story.version
        return self._structure

    def place(self, node_id: str) -> NodePlace:
        """Return where a node is."""
        found = self.structure.by_id.get(node_id)
        if found is None:
            raise InvalidEditError(self._told_instead(node_id))
        return found

    def heading(self, node_id: str) -> NodePlace:
        """Return where a chapter or a section is."""
        found = self.place(node_id)
        if not found.is_heading:
            above = self.structure.owner_of(found)
            such = f", such as {above.id!r} above it" if above.is_heading else ""
            raise InvalidEditError(f"{node_id!r} is a {found.kind}; give the id of a chapter or a section{such}")
        return found

    def page(self, node_id: str) -> NodePlace:
        """Return where a page or a table is."""
        found = self.place(node_id)
        if found.is_heading:
            below = next((inner for inner in self.children(found) if not inner.is_heading), None)
            such = "" if below is None else f", such as {below.id!r} below it"
            raise InvalidEditError(f"{node_id!r} is a {found.kind}; give the id of a page{such}")
        return found

    def is_blank(self, place: NodePlace) -> bool:
        """Tell whether a page is nobody's and nothing of it is to be seen."""
        return (
            place.kind == "page"
            and place.marks is None
            and all(block.is_blank for block in self.story.blocks[place.begin : place.end])
        )

    def children(self, owner: NodePlace) -> list[NodePlace]:
        """Return what stands directly below a heading, as a reader sees it."""
        return [inner for inner in owner.children if not self.is_blank(inner)]

    def insert_heading(self, at: int, elements: Sequence[Element], node_id: str) -> None:
        """Put a heading and what is below it before a block; its bookmark is inside it."""
        self._bookmarks.put_inside(elements[0], node_id)
        self.story.insert(self._settled(at), self._apart(at, elements))

    def append_heading(self, owner: NodePlace, elements: Sequence[Element], node_id: str) -> None:
        """Put a heading and what is below it at the end of a chapter, before the break to Word's next section."""
        self._bookmarks.put_inside(elements[0], node_id)
        at = self._settled(owner.end)
        made = self._apart(at, elements)
        at, last = self._before_break(owner, at)
        self.story.insert(at, [*made, *last])

    def insert_page(self, at: int, elements: Sequence[Element], node_id: str) -> None:
        """Put new content before a block."""
        self._insert_marked(self._settled(at), self._apart(at, elements), node_id, [])

    def append_page(self, owner: NodePlace, elements: Sequence[Element], node_id: str) -> None:
        """Put new content below a heading, after the pages it has."""
        at = self._settled(owner.pages_end)
        made = self._apart(at, elements)
        at, last = self._before_break(owner, at)
        self._insert_marked(at, made, node_id, last)

    def insert(self, at: int, elements: Sequence[Element], headings: Sequence[tuple[Element, str]]) -> None:
        """Put blocks before another, inside the page that this is in; chapters and sections among them have ids."""
        if headings:
            at = self._settled(self.pin(at))
            self._bookmarks.put_inside_each(headings)
        self.story.insert(at, self._apart(at, elements))

    def pin(self, at: int) -> int:
        """Keep the ids of the pages around a block that have them by their turn; return where the block is then."""
        place = self.structure.at(min(at, self.story.end) - 1)
        owner = self.structure.root if place is None else place if place.is_heading else self.structure.owner_of(place)
        pages = [page for page in self.structure.unmarked(owner) if not self.is_blank(page)]
        anchor = self.story.blocks[at].element if at < len(self.story.blocks) else None
        self._bookmarks.put_around(pages)
        return len(self.story.blocks) if anchor is None else self.story.container.index(anchor)

    def end_of(self, place: NodePlace, *, of_all: bool) -> tuple[int, list[Element]]:
        """Return where a page or the text below a heading ends on its own paper, and what has to follow there."""
        if not place.is_heading:
            is_whole = self._bookmarks.is_whole(place)
            return self._before_break(self.structure.owner_of(place), place.end - is_whole)
        return self._before_break(place, self._settled(place.end if of_all else place.pages_end))

    def put_beside(self, block: Element, made: Element, *, before: bool) -> None:
        """Put a new element before or after a block, into the same page if the block is in one."""
        at = self.story.place_of(block)
        if before:
            at = self._settled(at)
        place = self.structure.at(at)
        if place is not None and place.kind == "page":
            mark = self._bookmarks.mark_in(place, at, opening=before)
            if mark is not None:
                # Word keeps it inside the first or the last paragraph, and it has to go around what is new.
                take_off(mark)
                self.story.touch(at)
            marks = [] if mark is None else [mark]
            self.story.insert(at if before else at + 1, [*marks, made] if before else [made, *marks])
            return
        if place is not None and place.kind == "table":
            # The page that an edit has made for a table is that table and nothing else.
            at = place.begin if before else place.end
        elif not before:
            at += 1
        self._insert_apart(at, made)

    def rewrite(self, page: NodePlace, elements: Sequence[Element]) -> None:
        """Replace what a page consists of; its id stays."""
        structure = self.structure
        is_bookmarked, taken = self._bookmarks.is_whole(page), self._bookmarks.highest_number()
        begin, preserved = self._clear(page)
        made = self._apart(begin, elements)
        first = next(inner for top in made for inner in top.iter(P))
        preserved.settle_in(first, at_end=False)
        marked = self._bookmarks.around([*made, *preserved.paragraphs_with_breaks()], page.id, taken)
        self.story.insert(begin, marked)
        if is_bookmarked and not preserved.marks and structure is self._structure:
            structure.resize(page, len(marked), (marked[0], marked[-1]))
            self._version = self.story.version

    def delete(self, page: NodePlace) -> None:
        """Remove a page."""
        self._close(*self._clear(page))

    def take_out(self, begin: int, end: int) -> None:
        """Remove blocks; what others tied to them, and the ends of Word's sections, stay where they were."""
        first, last = self.story.blocks[begin].element, self.story.blocks[end - 1].element
        check_fields([block.element for block in self.story.blocks[begin:end]])
        place = self.structure.at(begin)
        if place is not None and not place.is_heading:
            rest = [*self.story.blocks[place.begin : begin], *self.story.blocks[end : place.end]]
            if all(block.is_blank for block in rest):
                # Pages that have their ids by their turn would get another.
                self.pin(begin + 1)
        self._settled(self.story.container.index(last) + 1)
        begin, end = self.story.container.index(first), self.story.container.index(last) + 1
        preserved = marks_to_preserve([block.element for block in self.story.blocks[begin:end]])
        self.story.remove(begin, end)
        self._close(begin, preserved)

    def remember(self, headings: Sequence[NodePlace]) -> None:
        """Keep the ids of headings that are about to change; there may be thousands."""
        self._bookmarks.put_inside_each([(self.story.blocks[one.begin].paragraph, one.id) for one in headings])
        for heading in headings:
            self.story.touch(heading.begin)

    def keep_headings(self, headings: Sequence[tuple[Element, str]]) -> None:
        """Give headings the ids that they had before somebody deleted what they said."""
        self._bookmarks.put_inside_each(headings)
        for heading, _ in headings:
            self.story.touch(self.story.place_of(heading))

    def forget_empty(self, node_id: str) -> None:
        """Take away the bookmark of a page of which nothing is left."""
        page = self.structure.by_id.get(node_id)
        if page is not None and not any(block.is_content for block in self.story.blocks[page.begin : page.end]):
            self._bookmarks.remove(page)

    def remember_twins(self) -> None:
        """Keep the ids of headings that say what others say: they have them by their turn."""
        derived = [place for place in self.structure.by_id.values() if place.is_heading and place.is_derived]
        times = Counter((one.kind, self.story.blocks[one.begin].text) for one in derived)
        self.remember([one for one in derived if times[one.kind, self.story.blocks[one.begin].text] > 1])

    def _insert_apart(self, at: int, made: Element) -> None:
        """Put an element where no page is; that one begins there changes nothing of the ids of others."""
        at = self._settled(at)
        before = self.structure.at(at - 1)
        after = self.structure.at(at)
        joins = [page for page in (before, after) if page is not None and page.kind == "page" and page.marks is None]
        if not any(at in {page.begin, page.end} for page in joins):
            owner = self.structure.root
            if before is not None:
                owner = before if before.is_heading else self.structure.owner_of(before)
            anchor = self.story.blocks[at].element if at < len(self.story.blocks) else None
            self._bookmarks.put_around([page for page in self.structure.unmarked(owner) if not self.is_blank(page)])
            at = len(self.story.blocks) if anchor is None else self.story.place_of(anchor)
        self.story.insert(at, [made])

    def _told_instead(self, node_id: str) -> str:
        """Return what an id is of that names no place of this text."""
        kind = self._beside(node_id)
        if kind is not None:
            what = f"a {kind}" if kind in {"header", "footer"} else f"all {kind} of the document"
            return (
                f"{node_id!r} is {what}, beside the text: only replace_text and fill_template change what it says; "
                "here give the id of a heading, a page or a table"
            )
        if any(comment_id(number) == node_id for block in self.story.blocks for number in block.comment_ids):
            return f"{node_id!r} is a comment: give the id of the page that it stands in, which `find` tells"
        return (
            f"the document has no node {node_id!r} that edits name; its outline names those it has, and `find` tells "
            "the page of a text"
        )

    def _clear(self, page: NodePlace) -> tuple[int, PreservedMarks]:
        """Take out a page with its bookmark; return where it was and what has to stay of it."""
        check_fields([block.element for block in self.story.blocks[page.begin : page.end]])
        self._settled(page.begin)
        page = self.place(page.id)
        unmarked = list(self.structure.unmarked(self.structure.owner_of(page)))
        if len(unmarked) > 1:
            # Pages that have their ids by their turn would get another, or become one.
            self._bookmarks.put_around([other for other in unmarked if other is not page and not self.is_blank(other)])
            page = self.place(page.id)
        begin, end = self._bookmarks.remove(page)
        preserved = marks_to_preserve([block.element for block in self.story.blocks[begin:end]])
        self.story.remove(begin, end)
        return begin, preserved

    def _close(self, at: int, preserved: PreservedMarks) -> None:
        """Keep what has to stay of blocks that are gone, and tables apart."""
        kept = preserved.paragraphs_with_breaks()
        if preserved.references:
            self._settle_nearby(at, preserved, kept)
        else:
            kept = [*preserved.marks, *kept]
        before, after = self._neighbour(at, -1), self._neighbour(at, 1)
        if not kept and before is not None and before.is_table and (after is None or after.is_table):
            kept = [element("p")]
        if kept:
            self.story.insert(at, kept)

    def _settled(self, at: int) -> int:
        """Return where to insert so that the page before stays as it is, also when Word put its end further on."""
        page = self.structure.at(at - 1)
        return at + self._bookmarks.release(page) if page is not None and page.end == at else at

    def _insert_marked(self, at: int, elements: Sequence[Element], node_id: str, last: list[Element]) -> None:
        structure = self.structure
        marked = self._bookmarks.around(elements, node_id)
        self.story.insert(at, [*marked, *last])
        if not last and structure.take_in(node_id, at, len(marked), (marked[0], marked[-1])):
            self._version = self.story.version

    def _before_break(self, owner: NodePlace, at: int) -> tuple[int, list[Element]]:
        """Return where the text below a heading ends on its own paper, and what has to follow what is put there."""
        broken = self._break_before(owner, at)
        if broken is None:
            return at, []
        block = self.story.blocks[broken]
        place = self.structure.at(broken)
        if block.is_blank and (place is None or place.marks is None):
            return broken, []
        last = element("p")
        if (section := block.section_break) is not None:
            # The break moves behind what is new, so that this is on the same paper as what is before it.
            child(last, "pPr").append(section)
            self.story.touch(broken)
        return at, [last]

    def _break_before(self, owner: NodePlace, at: int) -> int | None:
        if at >= self.story.end:
            return None
        for i in range(at - 1, owner.begin, -1):
            block = self.story.blocks[i]
            if block.is_content:
                return None if block.section_break is None else i
        return None

    def _apart(self, at: int, elements: Sequence[Element]) -> list[Element]:
        """Return elements with an empty paragraph where Word would join two tables, or a table would end the text."""
        made = list(elements)
        before, after = self._neighbour(at, -1), self._neighbour(at, 1)
        if made[0].tag == TBL and before is not None and before.is_table:
            made.insert(0, element("p"))
        if made[-1].tag == TBL and (after is None or after.is_table):
            made.append(element("p"))
        return made

    def _neighbour(self, at: int, step: int) -> Block | None:
        found = self._neighbour_at(at, step)
        return None if found is None else self.story.blocks[found]

    def _neighbour_at(self, at: int, step: int) -> int | None:
        places = range(at - 1, -1, -1) if step < 0 else range(at, self.story.end)
        return next((i for i in places if self.story.blocks[i].is_content), None)

    def _settle_nearby(self, at: int, preserved: PreservedMarks, kept: list[Element]) -> None:
        for step in (-1, 1):
            found = self._neighbour_at(at, step)
            if found is not None and self.story.blocks[found].element.tag == P:
                preserved.settle_in(self.story.blocks[found].element, at_end=step < 0)
                self.story.touch(found)
                return
        if not kept:
            kept.append(element("p"))
        preserved.settle_in(kept[0], at_end=True)
