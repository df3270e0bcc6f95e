"""Drawings: how a Word document shows a picture in the line of a text."""

from typing import Final

from lxml import etree

from officeplane.formats.pictures.drawing import PICTURE, A, blip_in, describe, fill_with, units
from officeplane.formats.pictures.drawing import shown_by as named_by
from officeplane.formats.relationships import OFFICE
from officeplane.formats.word.names import R_ID, element
from officeplane.formats.xml import Element

DRAWING: Final = "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
_NAMESPACES: Final = {"wp": DRAWING, "a": A, "pic": PICTURE, "r": OFFICE}
_OLD: Final = "{urn:schemas-microsoft-com:vml}imagedata"


def shown_by(drawing: Element) -> str:
    """Return the id by which a drawing of either form names the bytes of its first picture, or nothing."""
    blip = blip_in(drawing)
    if blip is not None:
        return named_by(blip)
    old = next(drawing.iter(_OLD), None)
    return "" if old is None else old.get(R_ID, "")


def run_with_picture(relationship_id: str, number: int, name: str, alt: str, size: tuple[float, float]) -> Element:
    """Return a run with a picture in the line; `size` is in points."""
    run = element("r")
    drawing = etree.SubElement(run, element("drawing").tag, nsmap=_NAMESPACES)
    inline = etree.SubElement(drawing, _wp("inline"), dict.fromkeys(("distT", "distB", "distL", "distR"), "0"))
    extent = {"cx": str(units(size[0])), "cy": str(units(size[1]))}
    etree.SubElement(inline, _wp("extent"), extent)
    etree.SubElement(inline, _wp("effectExtent"), dict.fromkeys("ltrb", "0"))
    describe(etree.SubElement(inline, _wp("docPr"), {"id": str(number), "name": name}), alt)
    locks = etree.SubElement(etree.SubElement(inline, _wp("cNvGraphicFramePr")), _a("graphicFrameLocks"))
    locks.set("noChangeAspect", "1")
    data = etree.SubElement(etree.SubElement(inline, _a("graphic")), _a("graphicData"), {"uri": PICTURE})
    picture = etree.SubElement(data, _pic("pic"))
    about = etree.SubElement(picture, _pic("nvPicPr"))
    etree.SubElement(about, _pic("cNvPr"), {"id": "0", "name": name})
    etree.SubElement(about, _pic("cNvPicPr"))
    fill_with(etree.SubElement(picture, _pic("blipFill")), relationship_id)
    form = etree.SubElement(picture, _pic("spPr"))
    place = etree.SubElement(form, _a("xfrm"))
    etree.SubElement(place, _a("off"), {"x": "0", "y": "0"})
    etree.SubElement(place, _a("ext"), extent)
    etree.SubElement(etree.SubElement(form, _a("prstGeom"), {"prst": "rect"}), _a("avLst"))
    return run


def _wp(name: str) -> str:
    return f"{{{DRAWING}}}{name}"


def _a(name: str) -> str:
    return f"{{{A}}}{name}"


def _pic(name: str) -> str:
    return f"{{{PICTURE}}}{name}"
