"""Drawings: how documents of all formats show a picture, in DrawingML.

A `blipFill` names the bytes in its `blip`, says which part of them is shown and how they
fill their frame. `a:` means the same in Word, Excel and PowerPoint.
"""

from typing import Final

from lxml import etree

from officeplane.formats.relationships import OFFICE
from officeplane.formats.xml import Element

A: Final = "http://schemas.openxmlformats.org/drawingml/2006/main"
PICTURE: Final = "http://schemas.openxmlformats.org/drawingml/2006/picture"
EMU: Final = 12_700
"""So many of its units make a point."""

_BLIP: Final = f"{{{A}}}blip"
_EMBED: Final = f"{{{OFFICE}}}embed"
_LINK: Final = f"{{{OFFICE}}}link"
_EXTENSIONS: Final = f"{{{A}}}extLst"
_CROPPING: Final = f"{{{A}}}srcRect"
_FILLS: Final = (_CROPPING, f"{{{A}}}stretch", f"{{{A}}}tile")
_DECORATIVE: Final = "{http://schemas.microsoft.com/office/drawing/2017/decorative}decorative"


def units(points: float) -> int:
    """Return a length in the units of drawings, at least one."""
    return max(1, round(points * EMU))


def blip_in(picture: Element) -> Element | None:
    """Return what names the bytes of a picture."""
    return next(picture.iter(_BLIP), None)


def shown_by(blip: Element) -> str:
    """Return the id by which bytes are named, or nothing."""
    return blip.get(_EMBED, "")


def fill_with(holder: Element, relationship_id: str) -> None:
    """Put into an empty `blipFill` what shows a whole picture."""
    blip = etree.SubElement(holder, _BLIP, nsmap={"r": OFFICE})
    blip.set(_EMBED, relationship_id)
    _stretch(holder)


def refill(blip: Element, relationship_id: str) -> list[str]:
    """Show other bytes instead, all of them; return the ids by which others were named, in other forms as well."""
    before = [blip.get(_EMBED, ""), blip.get(_LINK, "")]
    blip.set(_EMBED, relationship_id)
    blip.attrib.pop(_LINK, None)
    extensions = blip.find(_EXTENSIONS)
    for extension in () if extensions is None else list(extensions):
        # The same picture as a drawing of lines, or before effects: newer programs would show that.
        named = [value for inner in extension.iter() for name, value in inner.attrib.items() if name in {_EMBED, _LINK}]
        if named and extensions is not None:
            before += named
            extensions.remove(extension)
    if extensions is not None and not len(extensions):
        blip.remove(extensions)
    holder = blip.getparent()
    if holder is not None:
        for old in [child for child in holder if child.tag in _FILLS]:
            holder.remove(old)
        _stretch(holder, after=blip)
    return [one for one in before if one and one != relationship_id]


def describe(about: Element, alt: str) -> None:
    """Say what a picture shows, in its properties."""
    about.set("descr", alt)
    for mark in about.iter(_DECORATIVE):
        mark.set("val", "0")


def _stretch(holder: Element, after: Element | None = None) -> None:
    made = etree.Element(f"{{{A}}}stretch", nsmap={"a": A})
    etree.SubElement(made, f"{{{A}}}fillRect")
    if after is None:
        holder.append(made)
    else:
        after.addnext(made)
