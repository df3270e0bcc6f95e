"""Reading a text in parts: its nodes, what each says, and how it looks."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from officeplane.formats.blocks import Block as Said
from officeplane.formats.blocks import Note, Paragraph, Span
from officeplane.formats.charts.names import CHART
from officeplane.formats.charts.telling import facts_of, form_of, table_of
from officeplane.formats.commonmark import written
from officeplane.formats.package import Package
from officeplane.formats.pictures.parts import bytes_of
from officeplane.formats.reading.detail import Detail, Tree
from officeplane.formats.reading.reader import Searched, searched_in
from officeplane.formats.relationships import OFFICE, Relationships
from officeplane.formats.word.block import Block
from officeplane.formats.word.comments import Comments
from officeplane.formats.word.content import Contents
from officeplane.formats.word.details import BlocksSource, DetailsOfWord, ParagraphSource
from officeplane.formats.word.drawings import shown_by
from officeplane.formats.word.forms import (
    form_of_cell,
    form_of_drawing,
    form_of_paragraph,
    form_of_row,
    form_of_section,
    form_of_table,
)
from officeplane.formats.word.insets import SECTION_BREAK, Inset
from officeplane.formats.word.list_numbers import ListNumbers
from officeplane.formats.word.stories import Stories
from officeplane.formats.word.styles import Styles
from officeplane.formats.xml import Element

_CHART: Final = f"{{{CHART}}}chart"
_RELATION: Final = f"{{{OFFICE}}}id"
_PICTURES: Final = frozenset(("picture", "chart", "diagram", "shape"))
_HOLDERS_OF_NOTES: Final = frozenset(("footnotes", "endnotes"))
_AROUND_PAGES: Final = frozenset(("header", "footer"))
_SAID_OF_ITSELF: Final = frozenset(("comment", "change"))


class WordReader:
    """The nodes of one state of a document."""

    def __init__(self, package: Package, stories: Stories, comments: Comments) -> None:
        self._styles: Styles = stories.styles
        numbers = ListNumbers(package, stories.part, stories.styles)
        self.tree = Tree(DetailsOfWord(stories, comments, numbers).all())
        drawn: Mapping[Element, tuple[str, str]] = {
            detail.source.element: (detail.id, detail.name)
            for detail in self.tree.by_id.values()
            if detail.kind in _PICTURES and isinstance(detail.source, Inset)
        }
        self._package = package
        self._stories = stories
        self.contents = Contents(package, stories, drawn)

    def at(self, node_id: str) -> Detail | None:  # noqa: ARG002 - workbooks have addresses
        """Return nothing: all nodes are in the tree."""
        return None

    def said(self, detail: Detail) -> str:
        """Return what a node says with all below it, line by line, with marks for what is no text."""
        return "\n".join(self._lines(detail)).strip("\n")

    def content(self, detail: Detail, enough: int | None = None) -> str | None:
        """Return a node as CommonMark; what is no text has no such form."""
        if isinstance(detail.source, Inset) and not detail.children:
            chart = self._chart(detail)
            return None if chart is None else written(table_of(chart), enough)
        if detail.kind in _SAID_OF_ITSELF:
            return detail.text
        return written(self._blocks(detail), enough)

    def blocks(self) -> Iterator[Said]:
        """Yield what the text says, with its text boxes, and its notes at the end; headers and footers are left out."""
        for detail in self.tree.top:
            if detail.kind in _HOLDERS_OF_NOTES:
                for note in detail.children:
                    yield from self._note(note)
            elif detail.kind not in _AROUND_PAGES:
                yield from self._blocks(detail, with_boxes=True)

    def form(self, detail: Detail) -> dict[str, Any]:
        """Return what CommonMark cannot say of a node: style, alignment, size and the like."""
        source = detail.source
        if isinstance(source, ParagraphSource):
            return form_of_paragraph(source.element, source.item, self._styles)
        if isinstance(source, Inset):
            if detail.kind == SECTION_BREAK:
                return form_of_section(source.element)
            chart = self._chart(detail)
            said = {} if chart is None else facts_of(chart) | form_of(chart)
            return form_of_drawing(source.element) | said
        if detail.kind == "table":
            return form_of_table(source, self._styles)
        if detail.kind == "row":
            return form_of_row(source)
        return form_of_cell(source) if detail.kind == "cell" else {}

    def searched(self, under: Detail | None) -> Iterator[Searched]:
        """Yield every text below a node, or of the whole document, in order."""
        return searched_in(self.tree, under)

    def picture(self, detail: Detail) -> bytes | None:
        """Return the bytes of a picture; None when the file has none of it."""
        if not isinstance(detail.source, Inset):
            return None
        element = detail.source.element
        return bytes_of(self._package, self._stories.of(element).part, shown_by(element))

    def _chart(self, detail: Detail) -> Element | None:
        """Return what a chart is and shows; None of a node that is none."""
        if detail.kind != "chart" or not isinstance(detail.source, Inset):
            return None
        element = detail.source.element
        wanted = next((each.get(_RELATION, "") for each in element.iter(_CHART)), "")
        arrows = Relationships(self._package, self._stories.of(element).part)
        parts = (arrow.target for arrow in arrows if arrow.id == wanted and not arrow.is_external)
        return next((self._package.tree(part) for part in parts if part in self._package), None)

    def _lines(self, detail: Detail) -> Iterator[str]:
        source = detail.source
        if isinstance(source, BlocksSource):
            yield from (block.marked_text for block in source.blocks if block.says_something)
        elif isinstance(source, ParagraphSource):
            yield Block(source.element, None).marked_text
            for child in detail.children:
                if isinstance(child.source, ParagraphSource) or child.kind in {"section", "page", "table"}:
                    yield from self._lines(child)
        elif detail.kind == "table":
            yield Block(source, None).marked_text
        elif detail.kind in {"row", "cell"} or detail.children:
            between = "\t" if detail.kind == "row" else "\n"
            yield between.join("\n".join(self._lines(child)) for child in detail.children)
        elif isinstance(source, Inset) and detail.kind not in _SAID_OF_ITSELF:
            yield f"[{detail.kind}]"
        else:
            yield detail.text

    def _note(self, note: Detail) -> Iterator[Said]:
        number = note.id.partition("-")[2]
        mark = Note(number if note.kind == "footnote" else f"e{number}")
        first, *others = [*self._blocks(note), Paragraph(())]
        line = first.line if isinstance(first, Paragraph) else ()
        yield Paragraph((mark, Span(": "), *line))
        yield from others[:-1] if isinstance(first, Paragraph) else [first, *others[:-1]]

    def _blocks(self, detail: Detail, *, with_boxes: bool = False) -> Iterator[Said]:
        source = detail.source
        if isinstance(source, ParagraphSource):
            said = self.contents.of_paragraph(source.element, source.level, source.item)
            if not isinstance(said, Paragraph) or any(span.text.strip() or span.link for span in said.line):
                yield said
            for child in detail.children:
                if child.is_coarse or (with_boxes and child.kind == "text box"):
                    yield from self._blocks(child, with_boxes=with_boxes)
        elif detail.kind == "table":
            yield self.contents.of_table(source)
        else:
            for child in detail.children:
                yield from self._blocks(child, with_boxes=with_boxes)
