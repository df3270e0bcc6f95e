"""Pictures of a text: new ones put into it, and others shown in the place of those that it has."""

from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.pictures.bitmap import Bitmap
from officeplane.formats.pictures.drawing import EMU, PICTURE, A, blip_in, describe, refill, units
from officeplane.formats.pictures.parts import digest_of, drop_pictures, put_picture
from officeplane.formats.word.drawings import DRAWING, run_with_picture, shown_by
from officeplane.formats.word.finder import Finder, Found
from officeplane.formats.word.names import ALTERNATIVES, FALLBACK, R_ID, element, element_name, w
from officeplane.formats.word.page_width import room_for_text, width_of_cell
from officeplane.formats.word.placing import Side, cell_around, spot
from officeplane.formats.word.stories import Stories
from officeplane.formats.word.story import Story
from officeplane.formats.xml import Element

_SIDE_MAX: Final = 1_584.0
"""Word takes nothing that is wider or higher than 22 inches."""


class Pictures:
    """The pictures of one document."""

    def __init__(self, finder: Finder) -> None:
        self._finder = finder
        self._package = finder.package
        self._stories = finder.stories

    @property
    def numbers(self) -> set[int]:
        """The numbers of all that is drawn."""
        found = (
            about.get("id", "") for story in self._stories.all() for about in story.root.iter(f"{{{DRAWING}}}docPr")
        )
        return {int(number) for number in found if number.isascii() and number.isdecimal() and len(number) < 12}

    def insert(
        self, side: Side, node_id: str, bitmap: Bitmap, alt: str, width: float | None, number: int
    ) -> str:  # fmt: skip
        """Put a picture in a paragraph of its own before or after a node, or into one; return its node's id."""
        place = spot(self._finder.find(node_id), side)
        story = place.story
        size = bitmap.size(width, room_at(self._stories, story, place.element))
        check_size(size)
        self._stories.stamp(story)
        relation = put_picture(self._package, story.part, bitmap)
        run = run_with_picture(relation, number, f"Picture {len(self.numbers) + 1}", alt, size)
        if place.side == "into":
            place.element.append(run)
            story.touch(story.place_of(place.element))
            return _node_id(number)
        paragraph = element("p")
        paragraph.append(run)
        if story is self._stories.body.story and place.element.getparent() is story.container:
            self._stories.body.put_beside(place.element, paragraph, before=place.side == "before")
            return _node_id(number)
        if place.element.getparent() is story.container:
            at = story.container.index(place.element)
            story.insert(at if place.side == "before" else at + 1, [paragraph])
            return _node_id(number)
        if place.side == "before":
            place.element.addprevious(paragraph)
        else:
            place.element.addnext(paragraph)
        story.touch(story.place_of(paragraph))
        return _node_id(number)

    def replace(self, node_id: str, bitmap: Bitmap, alt: str | None, width: float | None) -> None:
        """Show another picture at the place of one; its width stays unless another is given."""
        drawing = self._drawing(node_id)
        blip = blip_in(drawing)
        frame = next((inner for inner in drawing if element_name(inner) in {"inline", "anchor"}), None)
        if blip is None or frame is None:
            raise InvalidEditError(f"{node_id!r} shows no bytes that could be replaced: put another one beside it")
        extent = frame.find(f"{{{DRAWING}}}extent")
        before = 0 if extent is None else int(extent.get("cx", "0"))
        size = bitmap.size(width or max(before, 1) / EMU, (0, 0))
        check_size(size)
        story = self._stories.of(drawing)
        self._stories.stamp(story)
        relation = put_picture(self._package, story.part, bitmap)
        old = shown_by(drawing)
        gone = refill(blip, relation)
        _renew_copies(drawing, old, relation)
        _resize(frame, size, keeps_width=width is None)
        if alt is not None:
            for about in frame.iter(f"{{{DRAWING}}}docPr"):
                describe(about, alt)
        story.touch(story.place_of(drawing))
        drop_pictures(self._package, story.part, *gone)

    def resize(self, node_id: str, width: float | None, height: float | None) -> None:
        """Give a picture a width, a height or both; with one of them it keeps its proportions."""
        drawing = self._drawing(node_id)
        frame = next((inner for inner in drawing if element_name(inner) in {"inline", "anchor"}), None)
        extent = None if frame is None else frame.find(f"{{{DRAWING}}}extent")
        if frame is None or extent is None:
            raise InvalidEditError(f"{node_id!r} does not say how large it is: insert it again")
        wide, high = (max(int(extent.get(name, "0")), 1) for name in ("cx", "cy"))
        size = (
            width if width is not None else (height or 0) * wide / high,
            height if height is not None else (width or 0) * high / wide,
        )
        check_size(size)
        story = self._stories.of(drawing)
        self._stories.stamp(story)
        _resize(frame, size, keeps_width=False)
        story.touch(story.place_of(drawing))

    def _drawing(self, node_id: str) -> Element:
        found = self._finder.find(node_id)
        if found.kind != "picture":
            raise InvalidEditError(f"{node_id!r} is a {found.kind}: the list of images has the ids of pictures")
        drawing = found.element
        if drawing.tag == w("pict"):
            raise InvalidEditError(f"{node_id!r} is a picture of the old form (VML): insert another one and delete it")
        data = next(drawing.iter(f"{{{A}}}graphicData"), None)
        if data is None or [inner.tag for inner in data] != [f"{{{PICTURE}}}pic"]:
            raise InvalidEditError(f"{node_id!r} is in a group or on a canvas: take it out of that in Word first")
        return drawing


def room_at(stories: Stories, story: Story, place: Element) -> tuple[float, float]:
    """Return the width and the height of what is shown at a place of a story, in points."""
    body = stories.body.story
    at = story.place_of(place) if story is body else len(body.blocks)
    section = next((found for block in body.blocks[at:] if (found := block.section_break) is not None), body.section)
    width, height = room_for_text(section)
    cell = cell_around(place)
    return (width if cell is None else min(width, width_of_cell(cell) or width)), height


def shown_in(package: Package, found: Found) -> str:
    """Return what tells the bytes apart that a picture shows; nothing of other nodes."""
    if found.kind != "picture":
        return ""
    return digest_of(package, found.story.part, shown_by(found.element)) or ""


def check_size(size: tuple[float, float]) -> None:
    """Refuse a size that Word does not take."""
    if max(size) > _SIDE_MAX:
        raise InvalidEditError(
            f"the picture would be {size[0]:.0f} x {size[1]:.0f} points; Word takes {_SIDE_MAX:.0f} on a side: give "
            "less"
        )


def _renew_copies(drawing: Element, old: str, relation: str) -> None:
    """Have what old programs show instead show the same bytes."""
    around = list(drawing.iterancestors(ALTERNATIVES))
    for fallback in around[-1].iter(FALLBACK) if around and old else ():
        for inner in fallback.iter():
            for name, value in inner.attrib.items():
                if value == old and (name == R_ID or str(name).endswith("}embed")):
                    inner.set(name, relation)


def _resize(frame: Element, size: tuple[float, float], *, keeps_width: bool) -> None:
    width, height = (str(units(side)) for side in size)
    for extent in (*frame.iterchildren(f"{{{DRAWING}}}extent"), *frame.iterfind(f".//{{{A}}}xfrm/{{{A}}}ext")):
        extent.set("cx", width)
        extent.set("cy", height)
    # Newer programs may have it follow the size of the page.
    for share in frame.iter("{*}pctHeight", *(() if keeps_width else ("{*}pctWidth",))):
        share.text = "0"


def _node_id(number: int) -> str:
    return f"picture-{number}"
