"""Reading a presentation in parts: slides, what lies on them, the cells of tables, notes and comments as nodes.

Shapes have the ids that outlines have always given them: the slide's, and the
number that the file gives the shape.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Final, NamedTuple

from officeplane.formats.blocks import Block, Heading, Item, Paragraph, Picture, Quote, Rule, Span, Table
from officeplane.formats.charts.telling import facts_of, form_of, table_of
from officeplane.formats.commonmark import written
from officeplane.formats.package import Package
from officeplane.formats.pictures.drawing import blip_in, shown_by
from officeplane.formats.pictures.parts import bytes_of
from officeplane.formats.powerpoint.comments.remarks import authors_of, remarks_on
from officeplane.formats.powerpoint.geometry import area_of
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.insets import Insets, of_shape
from officeplane.formats.powerpoint.looks.seen import look_of_cell, look_of_shape, look_of_text
from officeplane.formats.powerpoint.names import a
from officeplane.formats.powerpoint.notes import notes_part
from officeplane.formats.powerpoint.overflow import overflows
from officeplane.formats.powerpoint.paragraph_blocks import ParagraphBlocks
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, text_of
from officeplane.formats.powerpoint.placeholders import is_of_the_program, is_title
from officeplane.formats.powerpoint.placeholders import kind as placeholder_kind
from officeplane.formats.powerpoint.reading import NOTES, lines_of, title_of
from officeplane.formats.powerpoint.sections import Section
from officeplane.formats.powerpoint.shape_parts import chart_part
from officeplane.formats.powerpoint.shapes import SHAPE, properties, shapes, table
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.reading.detail import Detail, Tree
from officeplane.formats.reading.reader import Searched, searched_in
from officeplane.formats.xml import Element

_EMU: Final = 12_700
_COMMENT: Final = "comment"
_TEXTS: Final = frozenset({"text", "title", "shape"})


class ShapeSource(NamedTuple):
    """A shape that is a node, and its slide."""

    slide: Slide
    shape: Element


class CellSource(NamedTuple):
    """A cell that is a node, and its slide."""

    slide: Slide
    cell: Element


class RowSource(NamedTuple):
    """A row that is a node, and its slide."""

    slide: Slide
    row: Element


class NotesSource(NamedTuple):
    """Notes that are a node: their part and their paragraphs."""

    part: str
    paragraphs: list[Element]


class PowerPointReader:
    """The nodes of one state of a presentation."""

    def __init__(
        self,
        package: Package,
        main: str,
        slides: Sequence[Slide],
        sections: Sequence[Section],
        room_of: Callable[[Slide], Room],
    ) -> None:
        self._package = package
        self._room_of = room_of
        self._authors = authors_of(package, main)
        self._slides = {slide.id: slide for slide in slides}
        self._texts = ParagraphBlocks(package)
        if sections:
            top = [
                Detail(
                    each.id,
                    "chapter",
                    each.name,
                    is_title=True,
                    is_coarse=True,
                    children=[*map(self._slide, each.slides)],
                )
                for each in sections
            ]
        else:
            top = [*map(self._slide, slides)]
        self.tree = Tree(top)

    def at(self, node_id: str) -> Detail | None:  # noqa: ARG002 - workbooks have addresses
        """Return nothing: all nodes are in the tree."""
        return None

    def said(self, detail: Detail) -> str:
        """Return what a node says with all below it, line by line, with marks for what is no text."""
        if detail.kind == "chapter":
            return "\n".join([self.said(slide) for slide in detail.children])
        slide = self._slides.get(detail.id)
        if slide is not None:
            notes = notes_part(self._package, slide.part)
            lines = [*lines_of(self._package.tree(slide.part))]
            lines += [] if notes is None else lines_of(self._package.tree(notes), is_notes=True)
            return "\n".join(lines)
        if detail.kind == "table":
            return "\n".join("\t".join(cell.text for cell in row.children) for row in detail.children)
        if detail.kind == "row":
            return "\t".join(cell.text for cell in detail.children)
        return detail.text or (f"[{detail.kind}]" if detail.mark else "")

    def content(self, detail: Detail, enough: int | None = None) -> str | None:
        """Return a node as CommonMark; what is no text has no such form."""
        if detail.kind == _COMMENT:
            return detail.text
        return written(self._blocks(detail), enough) or (None if detail.mark else "")

    def blocks(self) -> Iterator[Block]:
        """Yield what all slides say, each behind a line across; notes are quotes, what has no text is named."""
        for detail in self.tree.top:
            if detail.kind == "chapter":
                yield Heading(1, (Span(detail.text),))
            for turn, slide in enumerate(detail.children if detail.kind == "chapter" else [detail]):
                if turn or detail is not self.tree.top[0]:
                    yield Rule()
                yield from self._all_of(slide)

    def form(self, detail: Detail) -> dict[str, Any]:
        """Return where a shape lies and how large it is, how it looks as the slide says, and what runs off a slide."""
        slide = self._slides.get(detail.id)
        if slide is not None:
            found = [*overflows(self._package.tree(slide.part), self._room_of(slide))]
            return {"overflow": found} if found else {}
        source = detail.source
        form: dict[str, Any] = {}
        if isinstance(source, ShapeSource):
            chart = self._chart(source.slide, source.shape) if detail.kind == "chart" else None
            form = self._form_of(source.slide, source.shape) | ({} if chart is None else form_of(chart))
        look = self._look_of(detail)
        return {**form, "look": look} if look else form

    def searched(self, under: Detail | None) -> Iterator[Searched]:
        """Yield every text below a node, or of the whole presentation, in order."""
        for searched in searched_in(self.tree, under):
            yield searched._replace(paragraphs=_paragraphs_of(self.tree.by_id[searched.id]))

    def picture(self, detail: Detail) -> bytes | None:
        """Return the bytes of a picture; None when the file has none of it."""
        source = detail.source
        blip = blip_in(source.shape) if isinstance(source, ShapeSource) else None
        return None if blip is None else bytes_of(self._package, source.slide.part, shown_by(blip))

    def _look_of(self, detail: Detail) -> dict[str, Any]:
        text = look_of_text([paragraph for paragraph, _ in self.paragraphs_of(detail)])
        match detail.source:
            case ShapeSource(shape=shape):
                return {**text, **look_of_shape(shape)}
            case CellSource(cell=cell):
                return {**text, **look_of_cell(cell)}
            case _:
                return text

    def _form_of(self, slide: Slide, shape: Element) -> dict[str, Any]:
        form: dict[str, Any] = {}
        kind = placeholder_kind(shape)
        if kind is not None:
            form["placeholder"] = kind
        area = area_of(shape)
        if area is None and kind is not None:
            area = self._room_of(slide).of(shape)
        if area is not None:
            form["x"], form["y"] = _points(area.x), _points(area.y)
            form["width"], form["height"] = _points(area.width), _points(area.height)
        about = properties(shape)
        if about is not None:
            said = {"name": about.get("name", ""), "alt": about.get("descr", "")}
            form |= {name: text for name, text in said.items() if text}
        return form

    def _slide(self, slide: Slide) -> Detail:
        root = self._package.tree(slide.part)
        made = Detail(slide.id, "slide", title_of(root), is_title=True, is_coarse=True, source=slide)
        if root.get("show") == "0":
            made.facts["hidden"] = True
        insets = Insets(self._package, slide.part)
        for shape in shapes(root):
            detail = self._shape(slide, shape, insets)
            if detail is not None:
                made.children.append(detail)
        notes = notes_part(self._package, slide.part)
        if notes is not None:
            held = "\n".join(lines_of(self._package.tree(notes), is_notes=True))
            if held:
                paragraphs = [
                    each
                    for shape in shapes(self._package.tree(notes))
                    if not is_of_the_program(shape)
                    for each in shape.iter(PARAGRAPH)
                ]
                made.children.append(
                    Detail(
                        f"{slide.id}.{NOTES}",
                        NOTES,
                        held,
                        is_coarse=True,
                        mark=NOTES,
                        source=NotesSource(notes, paragraphs),
                    )
                )
        for remark in remarks_on(self._package, slide.part, slide.id, self._authors):
            about = next((each.text for each in made.children if each.id == remark.shape), "")
            facts = remark.facts(about)
            made.children.append(Detail(remark.id, _COMMENT, remark.text, mark=_COMMENT, facts=facts, source=remark))
        return made

    def _shape(self, slide: Slide, shape: Element, insets: Insets) -> Detail | None:
        about = properties(shape)
        number = "" if about is None else about.get("id", "")
        found, inset = table(shape), of_shape(shape)
        if found is not None:
            rows = [[_cell_text(cell) for cell in row.iterchildren(a("tc"))] for row in found.iterchildren(a("tr"))]
            columns = max(map(len, rows), default=0)
            made = Detail(
                f"{slide.id}.{number}", "table", name="" if about is None else about.get("name", ""), is_coarse=True,
                mark=f"table {len(rows)}x{columns}", facts={"rows": len(rows), "columns": columns},
                source=ShapeSource(slide, shape),
            )  # fmt: skip
            for turn, row in enumerate(found.iterchildren(a("tr")), 1):
                line = Detail(f"{made.id}.r{turn}", "row", source=RowSource(slide, row))
                line.children = [
                    Detail(f"{line.id}.c{place}", "cell", _cell_text(cell), source=CellSource(slide, cell))
                    for place, cell in enumerate(row.iterchildren(a("tc")), 1)
                ]
                made.children.append(line)
            return made
        if inset is not None:
            chart = self._chart(slide, shape)
            return Detail(
                f"{slide.id}.{number}", inset.kind, name=inset.name, is_coarse=True, mark=inset.kind,
                source=ShapeSource(slide, shape), facts={} if chart is None else facts_of(chart),
            )  # fmt: skip
        if shape.tag != SHAPE:
            return Detail(f"{slide.id}.{number}", "connector", source=ShapeSource(slide, shape))
        text = "\n".join(text_of(each) for each in shape.iter(PARAGRAPH)).strip("\n")
        title = is_title(shape)
        if not text and placeholder_kind(shape) is None:
            return Detail(f"{slide.id}.{number}", "shape", source=ShapeSource(slide, shape))
        made = Detail(
            f"{slide.id}.{number}", "title" if title else "text", text, is_coarse=bool(text) and not title,
            is_repeated=title and bool(text), source=ShapeSource(slide, shape),
        )  # fmt: skip
        made.marks = Counter(inset.kind for inset in insets.in_text(shape.iter(PARAGRAPH)))
        return made

    def _chart(self, slide: Slide, shape: Element) -> Element | None:
        """Return what a chart is and shows, None of a shape that is none."""
        part = chart_part(self._package, slide.part, shape)
        return None if part is None else self._package.tree(part)

    def _all_of(self, slide: Detail) -> Iterator[Block]:
        if slide.text:
            yield Heading(2, (Span(slide.text),))
        for child in slide.children:
            if child.kind == NOTES:
                yield from (Quote(block.line) for _, block in self.paragraphs_of(child) if block is not None)
            elif child.kind not in {"title", _COMMENT}:
                said = [*self._blocks(child)]
                yield from said
                if child.mark and not said:
                    yield Paragraph((Span(f"[{child.kind}{child.name and ': '}{child.name}]"),))

    def _blocks(self, detail: Detail) -> Iterator[Block]:
        source = detail.source
        if isinstance(source, Slide):
            if detail.text:
                yield Heading(1, (Span(detail.text),))
            for child in detail.children:
                if child.kind not in {"title", NOTES, _COMMENT, "chart"}:
                    yield from self._blocks(child)
        elif detail.kind == "chapter":
            for child in detail.children:
                yield from self._blocks(child)
        elif detail.kind == "row":
            yield Table((tuple((Span(cell.text.replace("\n", " ")),) for cell in detail.children),))
        elif detail.kind == "table":
            rows = tuple(
                tuple((Span(cell.text.replace("\n", " ")),) for cell in row.children) for row in detail.children
            )
            if rows:
                yield Table(rows, 1)
        elif detail.kind == "chart":
            chart = self._chart(source.slide, source.shape) if isinstance(source, ShapeSource) else None
            yield from () if chart is None else table_of(chart)
        elif detail.kind == "picture":
            yield Paragraph((Picture(detail.name, link=f"node:{detail.id}"),))
        else:
            yield from (block for _, block in self.paragraphs_of(detail) if block is not None)

    def paragraphs_of(self, detail: Detail) -> list[tuple[Element, Item | Paragraph | None]]:
        """Return the paragraphs of a text, each with the block that it is read as; None for one that says nothing."""
        source = detail.source
        if isinstance(source, NotesSource):
            return [*self._texts.of(source.part, source.paragraphs, bulleted=False)]
        if isinstance(source, CellSource):
            return [*self._texts.of(source.slide.part, [*source.cell.iter(PARAGRAPH)], bulleted=False)]
        if not isinstance(source, ShapeSource) or detail.kind not in _TEXTS:
            return []
        bulleted = detail.kind == "text" and self._room_of(source.slide).has_bullets(source.shape)
        return [*self._texts.of(source.slide.part, [*source.shape.iter(PARAGRAPH)], bulleted=bulleted)]


def _paragraphs_of(detail: Detail) -> tuple[tuple[int, str], ...]:
    """Return the paragraphs that a text is put together of, and where in it each begins."""
    match detail.source:
        case ShapeSource(shape=shape):
            paragraphs = [*shape.iter(PARAGRAPH)]
        case NotesSource(paragraphs=paragraphs):
            pass
        case CellSource(cell=cell):
            paragraphs = [*cell.iter(PARAGRAPH)]
        case _:
            paragraphs = []
    texts = [*map(text_of, paragraphs)]
    for said in (texts, [*filter(None, texts)]):
        whole = "\n".join(said)
        if whole.strip("\n") == detail.text:
            ends = accumulate((len(text) + 1 for text in said), initial=len(whole.lstrip("\n")) - len(whole))
            return tuple(zip(ends, said, strict=False))
    return ()


def _cell_text(cell: Element) -> str:
    return "\n".join(text_of(each) for each in cell.iter(PARAGRAPH)).strip("\n")


def _points(units: int) -> float:
    return round(units / _EMU, 2)
