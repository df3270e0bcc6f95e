"""Pictures on slides: new ones, and others shown in the place of those that lie there."""

from officeplane.domain.document import InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.pictures.bitmap import Bitmap
from officeplane.formats.pictures.drawing import EMU, blip_in, describe, fill_with, refill, units
from officeplane.formats.pictures.parts import drop_pictures, put_picture
from officeplane.formats.powerpoint.geometry import Area, area_of, place
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.names import a, alone, p, under
from officeplane.formats.powerpoint.reader import PowerPointReader, ShapeSource
from officeplane.formats.powerpoint.shapes import PICTURE, next_shape_number, properties, shape_tree
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.powerpoint.text_shapes import add_shape, set_area
from officeplane.formats.xml import Element

_SIDE_MAX = 4_032.0
"""PowerPoint takes no slide, and nothing on one, that is wider or higher than 56 inches."""


def picture_of(reader: PowerPointReader, node_id: str) -> ShapeSource:
    """Return the picture of an id, as reading gives it."""
    detail = reader.tree.by_id.get(node_id)
    if detail is None or detail.kind != "picture" or not isinstance(detail.source, ShapeSource):
        raise InvalidEditError(f"there is no picture {node_id!r}; the list of images has those that there are")
    return detail.source


def insert_picture(
    package: Package, slide: Slide, room: Room, bitmap: Bitmap, alt: str, width: float | None,
    at: tuple[float | None, float | None],
) -> str:  # fmt: skip
    """Put a picture on a slide, in its middle unless `at` says how far from the left and the top; return its id."""
    whole = room.whole
    size = bitmap.size(width, (whole.width / EMU, whole.height / EMU))
    _check_size(size)
    wide, high = units(size[0]), units(size[1])
    area = Area(
        (whole.width - wide) // 2 if at[0] is None else round(at[0] * EMU),
        (whole.height - high) // 2 if at[1] is None else round(at[1] * EMU),
        wide,
        high,
    )
    about = properties(put_on(package, slide, bitmap, alt, area))
    return f"{slide.id}.{'' if about is None else about.get('id', '')}"


def put_on(package: Package, slide: Slide, bitmap: Bitmap, alt: str, area: Area) -> Element:
    """Put a picture on a slide where it is to lie; return its shape."""
    root = package.tree(slide.part)
    number = next_shape_number(root)
    made = alone(PICTURE)
    about = under(made, p("nvPicPr"))
    describe(under(about, p("cNvPr"), id=str(number), name=f"Picture {number - 1}"), alt)
    under(under(about, p("cNvPicPr")), a("picLocks"), noChangeAspect="1")
    under(about, p("nvPr"))
    fill_with(under(made, p("blipFill")), put_picture(package, slide.part, bitmap))
    form = under(made, p("spPr"))
    place(under(form, a("xfrm")), area)
    under(under(form, a("prstGeom"), prst="rect"), a("avLst"))
    add_shape(root, made)
    package.changed(slide.part)
    return made


def replace_picture(
    package: Package, slide: Slide, shape: Element, room: Room, bitmap: Bitmap, alt: str | None, width: float | None
) -> None:
    """Show another picture at the place of one; its width stays unless another is given."""
    blip = blip_in(shape)
    about = properties(shape)
    if blip is None or about is None:
        raise InvalidEditError("the picture shows no bytes that could be replaced: put another one on the slide")
    root = package.tree(slide.part)
    if width is not None and shape.getparent() is not shape_tree(root):
        raise InvalidEditError("the picture is in a group, whose size is its own: leave out the width")
    area = area_of(shape) or room.of(shape)
    size = bitmap.size(width or max(area.width, 1) / EMU, (0, 0))
    _check_size(size)
    gone = refill(blip, put_picture(package, slide.part, bitmap))
    _resize(shape, Area(area.x, area.y, units(size[0]), units(size[1])))
    if alt is not None:
        describe(about, alt)
    package.changed(slide.part)
    drop_pictures(package, slide.part, *gone)


def _resize(shape: Element, area: Area) -> None:
    extent = shape.find(f"{p('spPr')}/{a('xfrm')}/{a('ext')}")
    if extent is None:
        set_area(shape, area)
    else:
        extent.set("cx", str(area.width))
        extent.set("cy", str(area.height))


def _check_size(size: tuple[float, float]) -> None:
    if max(size) > _SIDE_MAX:
        raise InvalidEditError(
            f"the picture would be {size[0]:.0f} x {size[1]:.0f} points; PowerPoint takes {_SIDE_MAX:.0f} on a side: "
            "give a smaller width"
        )
