"""Word documents: what they consist of, what they say, and the edits of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from officeplane.domain.document import Format, InvalidEditError, Node
from officeplane.domain.warning import Loss
from officeplane.formats.blocks import Block as Content
from officeplane.formats.blocks import Line, Span
from officeplane.formats.diff import Readable
from officeplane.formats.package import Package
from officeplane.formats.search import Wanted
from officeplane.formats.signature import Signature
from officeplane.formats.word.block import Block
from officeplane.formats.word.body import Body
from officeplane.formats.word.brought import Brought, Numbers
from officeplane.formats.word.choosing import nth_of, places_of
from officeplane.formats.word.commenting import Commenting
from officeplane.formats.word.comments import Comments, comment_id
from officeplane.formats.word.finder import Finder
from officeplane.formats.word.fingerprints import fingerprint
from officeplane.formats.word.insets import SECTION_BREAK, Inset, outermost
from officeplane.formats.word.page_width import text_width
from officeplane.formats.word.pictures import Pictures, shown_in
from officeplane.formats.word.reader import WordReader
from officeplane.formats.word.review.choosing import Choice
from officeplane.formats.word.review.reviewing import Reviewed, review
from officeplane.formats.word.stories import Stories
from officeplane.formats.word.story import Hit, Story
from officeplane.formats.word.structure import NodePlace
from officeplane.formats.word.styles import CHAPTER_LEVEL, SECTION_LEVEL
from officeplane.formats.word.tracking.pencil import Pencil
from officeplane.formats.word.tracking.tracking import Tracking
from officeplane.formats.word.writer import Writer
from officeplane.formats.xml import Element


class Word:
    """A Word document that stays parsed from one edit to the next."""

    format: ClassVar = Format.DOCX

    def __init__(self, package: Package) -> None:
        self.package = package
        self._stories = Stories(package)
        self._comments = Comments(package, self._stories.part, self._stories.styles)

    def outline(self) -> list[Node]:
        """Return chapters with their sections and pages, then the texts beside the body."""
        remarks = self._comments.texts()
        body = self._body
        nodes = [self._node(place, remarks) for place in body.children(body.structure.root)]
        for aside in self._stories.asides:
            blocks = [block for block in aside.story.blocks if block.says_something]
            text = "\n".join(block.text for block in blocks).strip("\n")
            if text.strip():
                nodes.append(Node(aside.id, aside.kind, text, marks=_marks(blocks)))
        return nodes

    def reader(self) -> WordReader:
        """Return it as it is read in parts; it says what is true until the next edit."""
        return WordReader(self.package, self._stories, self._comments)

    def finder(self) -> Finder:
        """Return what finds its nodes by the ids that reading gives, for edits of them."""
        return Finder(self.package, self._stories, self._comments)

    def brought(self, numbers: Numbers) -> Brought:
        """Return what makes pictures and notes of content for its text."""
        return Brought(self.finder(), self._body.story, numbers)

    def pictures(self) -> Pictures:
        """Return its pictures, to add to them or to show others instead."""
        return Pictures(self.finder())

    def comparable(self) -> Readable:
        """Return it as it is compared."""
        return self

    def text(self) -> str:
        """Return the whole text by lines, with marks such as `[picture]`: the body, then notes, headers and footers."""
        beside = (_text(aside.story).strip("\n") for aside in self._stories.asides)
        return "\n".join([_text(self._body.story), *(text for text in beside if text)])

    def places_of(self, wanted: Wanted) -> list[str]:
        """Return the node of each occurrence of a text, in order."""
        found = places_of(wanted, self.finder())
        return [*wanted.chosen([place for story, hits in found for place in self._named(story, hits)])]

    def fingerprint(self, target: str) -> str | None:
        """Return a hash of what a node says and how, without the nodes below it; None when there is no such node."""
        body = self._body
        place = body.structure.by_id.get(target)
        if place is not None:
            end = place.begin + 1 if place.is_heading else place.end
            return fingerprint(block.element for block in body.story.blocks[place.begin : end] if block.is_content)
        comment = self._comments.find(target)
        if comment is not None:
            state = " resolved" if self._comments.is_resolved(comment) else ""
            return fingerprint(self._comments.thread(comment)) + state
        found = self.finder().look(target)
        return None if found is None else fingerprint(found.elements) + shown_in(self.package, found)

    def add_chapter(self, title: str, position: int | None, node_id: str) -> str:
        """Add a chapter at the end or before the one at `position`."""
        body = self._stories.body_to_change()
        heading = self._writer().heading(CHAPTER_LEVEL, _line(title))
        chapters = [place for place in body.structure.root.children if place.kind == "chapter"]
        if position is not None and position < len(chapters):
            body.insert_heading(chapters[position].begin, [heading], node_id)
        else:
            body.append_heading(body.structure.root, [heading], node_id)
        return node_id

    def add_section(
        self, title: str, chapter_id: str | None, blocks: Sequence[Content], position: int | None, node_id: str,
        brought: Brought,
    ) -> str:  # fmt: skip
        """Add a section to a chapter, or to the last one, at the end or before the section at `position`."""
        body = self._stories.body_to_change()
        chapter = self._chapter(chapter_id)
        brought.look_up(blocks)
        writer = self._writer(brought)
        made = [writer.heading(SECTION_LEVEL, _line(title)), *(writer.elements(blocks) if blocks else [])]
        sections = [place for place in chapter.children if place.kind == "section"]
        if position is not None and position < len(sections):
            body.insert_heading(sections[position].begin, made, node_id)
        else:
            body.append_heading(chapter, made, node_id)
        return node_id

    def write_page(
        self, blocks: Sequence[Content], section_id: str | None, position: int | None, node_id: str, brought: Brought
    ) -> str:
        """Add content to a section, a chapter or the document, at the end or before what is at `position` in it."""
        body = self._stories.body_to_change()
        owner = body.structure.root if section_id is None else body.heading(section_id)
        brought.look_up(blocks)
        elements = self._writer(brought).elements(blocks)
        self._add_page(owner, elements, position, node_id)
        return node_id

    def edit_page(self, page_id: str, blocks: Sequence[Content], brought: Brought) -> list[Loss]:
        """Replace what a page says; return what is lost with that."""
        body = self._stories.body_to_change()
        page = body.page(page_id)
        brought.look_up(blocks)
        insets = self._insets_of(page)
        brought.let_go(block.element for block in body.story.blocks[page.begin : page.end])
        body.rewrite(page, self._writer(brought).elements(blocks))
        return [Loss(one.kind, page.id, one.name) for one in insets if one.element not in brought.moved]

    def delete_page(self, page_id: str) -> list[Loss]:
        """Remove a page; what others tied to it moves to what is next to it. Return what is lost with it."""
        body = self._stories.body_to_change()
        page = body.page(page_id)
        losses = [Loss(one.kind, page.id, one.name) for one in self._insets_of(page)]
        body.delete(page)
        return losses

    def replace_text(self, wanted: Wanted, replace: str) -> list[str]:
        """Replace a text where it is meant; return the node of each place at which it stands under the node."""
        found, replacing = places_of(wanted, self.finder()), wanted.replacing(replace)
        places = [place for story, hits in found for place in self._named(story, hits)]
        for story, hits in found if wanted.nth is None else nth_of(found, wanted.nth):
            self._stories.stamp(story)
            if story is self._body.story:
                self._remember_headings(hits)
            story.replace(hits, replacing)
        return places

    def insert_table(
        self, rows: Sequence[Sequence[str]], header: Sequence[str] | None, section_id: str | None, style: str | None,
        node_id: str,
    ) -> str:  # fmt: skip
        """Add a table at the end of a section or of the document."""
        body = self._stories.body_to_change()
        owner = body.structure.root if section_id is None else body.heading(section_id)
        lines = [[_line(cell) for cell in row] for row in ([] if header is None else [header]) + list(rows)]
        made = self._writer().table(lines, 0 if header is None else 1, style)
        self._add_page(owner, [made], None, node_id)
        return node_id

    def commenting(self, signature: Signature) -> Commenting:
        """Return what changes its comments in somebody's name."""
        return Commenting(self.finder(), signature)

    def review(self, choice: Choice, *, accept: bool) -> Reviewed:
        """Accept or reject tracked changes."""
        return review(self._stories, self.reader(), choice, accept=accept)

    def tracking(self, pencil: Pencil) -> Tracking:
        """Return what writes what is done next as tracked changes."""
        return Tracking(self.package, self._stories, lambda node_id: self.finder().look(node_id), pencil)

    def name(self, maker: str) -> None:
        """Name the paragraphs that an edit has added; `maker` is the task that it was."""
        for story in self._stories.all():
            story.name(maker)

    @property
    def _body(self) -> Body:
        return self._stories.body

    def _writer(self, brought: Brought | None = None) -> Writer:
        insets = None if brought is None else brought.run
        width = text_width(self._body.story.section)
        return Writer(self.package, self._stories.part, self._stories.styles, width, insets=insets)

    def _chapter(self, chapter_id: str | None) -> NodePlace:
        root = self._body.structure.root
        if chapter_id is None:
            return next((place for place in reversed(root.children) if place.kind == "chapter"), root)
        chapter = self._body.heading(chapter_id)
        if chapter.kind != "chapter":
            raise InvalidEditError(f"{chapter_id!r} is a {chapter.kind}; give the id of a chapter")
        return chapter

    def _add_page(self, owner: NodePlace, elements: Sequence[Element], position: int | None, node_id: str) -> None:
        body = self._body
        if owner is body.structure.root:
            before = body.children(owner)
        else:
            before = [place for place in body.children(owner) if place.kind != "section"]
        if position is not None and position < len(before):
            body.insert_page(before[position].begin, elements, node_id)
        elif owner is body.structure.root:
            body.insert_page(body.story.end, elements, node_id)
        else:
            body.append_page(owner, elements, node_id)

    def _insets_of(self, page: NodePlace) -> list[Inset]:
        """Return what goes with a page besides its text."""
        insets = _insets(self._body.story.blocks[page.begin : page.end])
        return [one for one in insets if one.kind != SECTION_BREAK]

    def _remember_headings(self, hits: Iterable[Hit]) -> None:
        structure = self._body.structure
        places = ((block, structure.at(block)) for block in dict.fromkeys(hit.block for hit in hits))
        self._body.remember(
            [
                place
                for block, place in places
                if place is not None and place.begin == block and place.is_heading and place.is_derived
            ]
        )

    def _named(self, story: Story, hits: Iterable[Hit]) -> Iterator[str]:
        """Yield the node of each of the places that count."""
        structure = self._body.structure
        aside = next((aside.id for aside in self._stories.asides if aside.story is story), None)
        for hit in hits:
            if hit.counts:
                place = structure.at(hit.block) if aside is None else None
                yield from [aside or (place.id if place is not None else "")] * len(hit.matches)

    def _node(self, place: NodePlace, remarks: dict[str, str]) -> Node:
        blocks = self._body.story.blocks
        own = [blocks[place.begin]] if place.is_heading else blocks[place.begin : place.end]
        text = "\n".join(block.text for block in own if block.is_content).strip("\n")
        children = [self._node(inner, remarks) for inner in self._body.children(place)]
        node = Node(place.id, place.kind, text, children, _marks(own))
        for number in (number for block in own for number in block.comment_ids):
            node.children.append(Node(comment_id(number), "comment", remarks.get(number, "")))
        return node


def _insets(blocks: Iterable[Block]) -> Iterator[Inset]:
    return outermost(inset for block in blocks for inset in block.insets)


def _marks(blocks: Iterable[Block]) -> dict[str, int]:
    return dict(Counter(inset.kind for inset in _insets(blocks)))


def _text(story: Story) -> str:
    return "\n".join(block.marked_text for block in story.blocks if block.says_something)


def _line(text: str) -> Line:
    return (Span(text),)
