"""Additions: content put on a slide beside what lies there, as a text box and tables."""

from collections.abc import Sequence
from typing import Final

from officeplane.domain.warning import EditWarning
from officeplane.formats.blocks import Block, Table
from officeplane.formats.links import Links
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.brought_pictures import NewPicture
from officeplane.formats.powerpoint.content import paragraphs
from officeplane.formats.powerpoint.fitting import fit, height
from officeplane.formats.powerpoint.free_places import FreePlace, free_place
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.marks import mark
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH
from officeplane.formats.powerpoint.shapes import next_shape_number, properties, settings
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.powerpoint.tables import ROW_HEIGHT, table_frame
from officeplane.formats.powerpoint.text_shapes import add_shape, set_area, text_body, text_box
from officeplane.formats.xml import Element

_SIZE: Final = 1_800
_PADDING: Final = 91_440
_LEAST: Final = 369_332


class Additions:
    """What is put on one slide."""

    def __init__(self, package: Package, slide: Slide, room: Room) -> None:
        self._package = package
        self._slide = slide
        self._room = room
        self._root = package.tree(slide.part)
        self._links = Links(package, slide.part)
        self.made: list[str] = []
        """The ids of the shapes that were put on the slide."""
        self.warnings: list[EditWarning] = []

    def put(self, blocks: Sequence[Block], style: str, pictures: Sequence[NewPicture]) -> None:
        """Put texts into one box, each table into a frame, and pictures beside these, where there is room."""
        texts = [block for block in blocks if not isinstance(block, Table)]
        if texts:
            self._put_texts(texts)
        for block in blocks:
            if isinstance(block, Table):
                self._put_table(block, style)
        for picture in pictures:
            place = self._place(self._room.for_body(self._root).within(picture.size).height)
            self._note(picture.put(place.area.within(picture.size)))
        self._package.changed(self._slide.part)

    def _put_texts(self, texts: Sequence[Block]) -> None:
        width = self._room.for_body(self._root).width
        box = text_box(self._root, self._room.for_body(self._root))
        body = text_body(box)
        for blank in body.findall(PARAGRAPH):
            body.remove(blank)
        body.extend(paragraphs(texts, self._links.to, None, has_bullets=False))
        needed = max(height(body, width, _SIZE, is_list=False) + _PADDING, _LEAST)
        # It is no hindrance to itself.
        tree = box.getparent()
        if tree is not None:
            tree.remove(box)
        place = self._place(needed)
        add_shape(self._root, box)
        set_area(box, place.area)
        fit(body, place.area, _SIZE)
        self._note(box)

    def _put_table(self, table: Table, style: str) -> None:
        place = self._place(ROW_HEIGHT * len(table.rows))
        frame = table_frame(table, place.area, style, self._links.to, next_shape_number(self._root))
        add_shape(self._root, frame)
        holder = settings(frame)
        if holder is not None:
            mark(holder)
        self._note(frame)

    def _place(self, needed: int) -> FreePlace:
        place = free_place(self._root, self._room, needed)
        if not place.is_clear:
            self.warnings.append(
                EditWarning("overflow", "there is no free room for what was added: it lies over others", self._slide.id)
            )
        return place

    def _note(self, shape: Element) -> None:
        about = properties(shape)
        self.made.append(f"{self._slide.id}.{'' if about is None else about.get('id', '')}")
