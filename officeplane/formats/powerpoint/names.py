"""Names: the namespaces that the parts of a presentation use, and their tags."""

from typing import Final

from lxml import etree

from officeplane.formats.relationships import OFFICE
from officeplane.formats.xml import Element

DRAWING: Final = "http://schemas.openxmlformats.org/drawingml/2006/main"
PRESENTATION: Final = "http://schemas.openxmlformats.org/presentationml/2006/main"
SECTIONS: Final = "http://schemas.microsoft.com/office/powerpoint/2010/main"
COMPATIBILITY: Final = "http://schemas.openxmlformats.org/markup-compatibility/2006"

NAMESPACES: Final = {"a": DRAWING, "r": OFFICE, "p": PRESENTATION}
_KIND: Final = "application/vnd.openxmlformats-officedocument.presentationml"
SLIDE_TYPE: Final = f"{_KIND}.slide+xml"
NOTES_TYPE: Final = f"{_KIND}.notesSlide+xml"
NOTES_MASTER_TYPE: Final = f"{_KIND}.notesMaster+xml"


def a(name: str) -> str:
    """Return a tag of DrawingML."""
    return f"{{{DRAWING}}}{name}"


def p(name: str) -> str:
    """Return a tag of PresentationML."""
    return f"{{{PRESENTATION}}}{name}"


def p14(name: str) -> str:
    """Return a tag of PowerPoint 2010's additions, where sections are."""
    return f"{{{SECTIONS}}}{name}"


R_ID: Final = f"{{{OFFICE}}}id"
"""The attribute that names a relationship."""


def alone(tag: str) -> Element:
    """Return an element that hangs nowhere yet and knows the usual prefixes."""
    return etree.Element(tag, nsmap=NAMESPACES)


def under(parent: Element, tag: str, **attributes: str) -> Element:
    """Return a new last child."""
    return etree.SubElement(parent, tag, attributes)


def attribute_number(element: Element, name: str, default: int) -> int:
    """Return a number that an attribute holds; the default for anything else."""
    value = element.get(name, "").strip()
    digits = value.removeprefix("-")
    return int(value) if digits.isascii() and digits.isdecimal() and len(digits) <= 18 else default
