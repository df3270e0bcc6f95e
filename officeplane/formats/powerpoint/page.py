"""Pages: what a slide says, written as a title, a body and tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from officeplane.domain.warning import Loss
from officeplane.formats.blocks import Block, Heading, Line, Table
from officeplane.formats.links import Links
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.animations import lost_with_shape, lost_with_text
from officeplane.formats.powerpoint.brought_pictures import NewPicture
from officeplane.formats.powerpoint.content import paragraphs
from officeplane.formats.powerpoint.fitting import fit
from officeplane.formats.powerpoint.geometry import Area, area_of
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.insets import LINK, Inset, Insets, of_shape
from officeplane.formats.powerpoint.layouts import Layout
from officeplane.formats.powerpoint.marks import is_marked, mark, unmark
from officeplane.formats.powerpoint.names import R_ID, a, alone
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH
from officeplane.formats.powerpoint.picture_blocks import without_pictures_of_title
from officeplane.formats.powerpoint.placeholders import (
    add_placeholder,
    body,
    counterpart,
    is_title,
    placeholder,
    title,
)  # fmt: skip
from officeplane.formats.powerpoint.runs import base_of, write_line
from officeplane.formats.powerpoint.shapes import PICTURE, next_shape_number, settings, shape_tree, shapes, table
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.powerpoint.tables import table_element, table_frame
from officeplane.formats.powerpoint.text_shapes import (
    add_shape,
    add_text_box,
    add_title,
    own_text_box,
    set_area,
    text_body,
)  # fmt: skip
from officeplane.formats.xml import Element

_ROWS_WEIGH: Final = 0.8
_TEXT_SHARE: Final = 0.55
"""How much of the width texts and tables have where pictures lie beside them."""


class Page:
    """The content of one slide."""

    def __init__(self, package: Package, main: str, slide: Slide, layout: Layout | None) -> None:
        self.losses: list[Loss] = []
        """What stood on the slide and nothing that was written names."""
        self._package = package
        self._slide = slide
        self._part = slide.part
        self._root = package.tree(slide.part)
        self._layout = layout
        self._links = Links(package, slide.part)
        self._room = Room(package, main, layout)

    def write_title(self, line: Line) -> None:
        """Put a line in place of the title."""
        shape = title(self._root)
        if shape is None:
            shape = self._added(of_title=True)
        if shape is None:
            shape = add_title(self._root, self._room.for_title())
        text = text_body(shape)
        base = base_of(text, with_emphasis=True)
        first = text.find(PARAGRAPH)
        kept = None if first is None else first.find(a("pPr"))
        made = alone(PARAGRAPH)
        if kept is not None:
            made.append(kept)
        write_line(made, line, self._links.to, base)
        self._replace(shape, text, [made])

    def write_body(self, blocks: Sequence[Block], style: str, pictures: Sequence[NewPicture] = ()) -> None:
        """Put blocks in place of the body, tables in place of the first ones on the slide, and pictures beside them."""
        wanted = [block for block in blocks if isinstance(block, Table)]
        texts = [block for block in blocks if not isinstance(block, Table)]
        frames = [shape for shape in shape_tree(self._root) if table(shape) is not None]
        whole = area = self._room.for_body(self._root)
        has_pictures = bool(pictures) or any(is_marked(settings(shape)) for shape in self._pictures())
        is_beside = has_pictures and bool(blocks)
        if is_beside:
            area, whole = whole.beside(_TEXT_SHARE)
        upper, lower = area, area
        if texts and wanted:
            rows = _ROWS_WEIGH * sum(len(each.rows) for each in wanted)
            upper, lower = area.split(min(max(len(texts) / (len(texts) + rows), 0.25), 0.6))
        is_shrunk = bool(texts) and (is_beside or len(wanted) > len(frames))
        self._write_texts(texts, upper if is_shrunk else None, has_tables=bool(wanted) or bool(pictures))
        for frame, each in zip(frames, wanted, strict=False):
            self._renew(frame, each, style)
        for frame in frames[len(wanted) :]:
            if is_marked(settings(frame)):
                self._remove(frame)
        self._add_tables(wanted[len(frames) :], lower, style)
        for left, picture in zip(range(len(pictures), 0, -1), pictures, strict=True):
            own, whole = whole.split(1 / left)
            picture.put(own.within(picture.size))
        self._package.changed(self._part)

    def _pictures(self) -> Iterator[Element]:
        return (shape for shape in shapes(self._root) if shape.tag == PICTURE)

    def _write_texts(self, texts: Sequence[Block], shrunk_to: Area | None, *, has_tables: bool) -> None:
        shape = body(self._root)
        if shape is None:
            shape = own_text_box(self._root)
        if not texts and (has_tables or shape is None):
            if shape is not None:
                self._remove(shape)
            return
        if shape is None:
            shape = self._added(of_title=False)
        if shape is None:
            shape = add_text_box(self._root, self._room.for_body(self._root))
        text = text_body(shape)
        made = paragraphs(
            texts, self._links.to, base_of(text, with_emphasis=False), has_bullets=self._room.has_bullets(shape)
        )
        self._replace(shape, text, made or [alone(PARAGRAPH)])
        self._make_room(shape, shrunk_to, has_tables=has_tables)
        fit(text, self._room.of(shape), self._room.size(shape))

    def _make_room(self, shape: Element, shrunk_to: Area | None, *, has_tables: bool) -> None:
        """Make room for tables below the text, and take it back when they are gone."""
        holder = settings(shape)
        if placeholder(shape) is None or holder is None:
            return
        if shrunk_to is not None and (area_of(shape) is None or is_marked(holder)):
            set_area(shape, shrunk_to)
            mark(holder)
        elif not has_tables and is_marked(holder):
            set_area(shape, None)
            unmark(holder)

    def _add_tables(self, tables: Sequence[Table], area: Area, style: str) -> None:
        for left, each in zip(range(len(tables), 0, -1), tables, strict=True):
            own, area = area.split(1 / left)
            frame = table_frame(each, own, style, self._links.to, next_shape_number(self._root))
            add_shape(self._root, frame)
            holder = settings(frame)
            if holder is not None:
                mark(holder)

    def _renew(self, frame: Element, wanted: Table, style: str) -> None:
        """Put another table into a frame; where it lies and how it looks stay."""
        old, holder = table(frame), settings(frame)
        parent = None if old is None else old.getparent()
        if old is None or parent is None:
            return
        theirs = None if is_marked(holder) else of_shape(frame)
        looks = old.find(a("tblPr"))
        old_style = None if looks is None else looks.findtext(a("tableStyleId"))
        made = table_element(
            wanted, area_of(frame) or self._room.for_body(self._root), old_style or style, self._links.to
        )
        parent.replace(old, made)
        self._lose(self._gone([*old.iter(PARAGRAPH)], [*made.iter(PARAGRAPH)]) if theirs is None else [theirs])
        if holder is not None:
            mark(holder)
        self._drop_links(old)

    def _added(self, *, of_title: bool) -> Element | None:
        """Return a placeholder that the layout has and the slide had not, made now."""
        if self._layout is None:
            return None
        like = title(self._layout.root) if of_title else body(self._layout.root)
        if like is None or any(counterpart(shape, self._layout.root) is like for shape in shapes(self._root)):
            return None
        made = add_placeholder(self._root, like)
        if is_title(made):
            tree = shape_tree(self._root)
            tree.remove(made)
            tree.insert(2, made)
        return made

    def _replace(self, shape: Element, text: Element, made: Sequence[Element]) -> None:
        gone = text.findall(PARAGRAPH)
        self._lose(self._gone(gone, made))
        self._lose(lost_with_text(self._root, shape, len(made)))
        for old in gone:
            text.remove(old)
        text.extend(made)
        self._drop_links(*gone)
        self._package.changed(self._part)

    def _remove(self, shape: Element) -> None:
        parent = shape.getparent()
        if parent is not None:
            insets = Insets(self._package, self._part)
            self._lose(insets.in_text(shape.iter(PARAGRAPH)))
            self._lose(insets.clicked(shape))
            self._lose(lost_with_shape(self._root, shape))
            parent.remove(shape)
            self._drop_links(shape)

    def _gone(self, old: Sequence[Element], made: Sequence[Element]) -> list[Inset]:
        """Return what paragraphs have besides text that those in their place have not."""
        insets = Insets(self._package, self._part)
        kept = insets.addresses(made)
        return [inset for inset in insets.in_text(old) if inset.kind != LINK or unquote(inset.name) not in kept]

    def _lose(self, insets: Iterable[Inset]) -> None:
        self.losses += [Loss(inset.kind, self._slide.id, inset.name) for inset in insets]

    def _drop_links(self, *gone: Element) -> None:
        """Remove the links that only removed texts had; one may be of the new text, too."""
        clicks = (a("hlinkClick"), a("hlinkMouseOver"))
        ids = {link.get(R_ID, "") for each in gone for link in each.iter(*clicks)} - {""}
        if ids:
            self._links.drop(ids - {value for each in self._root.iter() for value in each.attrib.values()})


def title_and_rest(blocks: Sequence[Block]) -> tuple[Line | None, Sequence[Block]]:
    """Return the first heading's line and the blocks without it."""
    for place, block in enumerate(blocks):
        if isinstance(block, Heading):
            line, pictures = without_pictures_of_title(block.line)
            return line, [*blocks[:place], *pictures, *blocks[place + 1 :]]
    return None, blocks
