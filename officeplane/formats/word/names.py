"""Names: the words of WordprocessingML, with their namespace, and elements made of them."""

from typing import Final

from lxml import etree

from officeplane.formats.relationships import OFFICE
from officeplane.formats.xml import Element

W: Final = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MATH: Final = "http://schemas.openxmlformats.org/officeDocument/2006/math"
COMPATIBILITY: Final = "http://schemas.openxmlformats.org/markup-compatibility/2006"
W14: Final = "http://schemas.microsoft.com/office/word/2010/wordml"


def w(name: str) -> str:
    """Return a name of WordprocessingML as lxml writes it."""
    return f"{{{W}}}{name}"


P: Final = w("p")
P_PR: Final = w("pPr")
R: Final = w("r")
R_PR: Final = w("rPr")
T: Final = w("t")
BR: Final = w("br")
TAB: Final = w("tab")
TBL: Final = w("tbl")
TR: Final = w("tr")
TC: Final = w("tc")
SDT: Final = w("sdt")
TEXT_BOX: Final = w("txbxContent")
SECT_PR: Final = w("sectPr")
STYLE: Final = w("style")
BOOKMARK_START: Final = w("bookmarkStart")
BOOKMARK_END: Final = w("bookmarkEnd")
COMMENT_REFERENCE: Final = w("commentReference")
ID: Final = w("id")
AUTHOR: Final = w("author")
VAL: Final = w("val")
NAME: Final = w("name")
MATH: Final = f"{{{_MATH}}}oMath"
MATH_T: Final = f"{{{_MATH}}}t"
ALTERNATIVES: Final = f"{{{COMPATIBILITY}}}AlternateContent"
FALLBACK: Final = f"{{{COMPATIBILITY}}}Fallback"
IGNORABLE: Final = f"{{{COMPATIBILITY}}}Ignorable"
PARA_ID: Final = f"{{{W14}}}paraId"
R_ID: Final = f"{{{OFFICE}}}id"
SPACE: Final = "{http://www.w3.org/XML/1998/namespace}space"

_PREFIXES: Final = {"w": W}
_LINK_PREFIXES: Final = {"w": W, "r": OFFICE}


def element(name: str, /, **attributes: str) -> Element:
    """Return a new element; its attributes are of the same namespace."""
    made = etree.Element(w(name), nsmap=_PREFIXES)
    for key, value in attributes.items():
        made.set(w(key), value)
    return made


def child(parent: Element, name: str, /, **attributes: str) -> Element:
    """Return a new last child of an element; its attributes are of the same namespace."""
    made = etree.SubElement(parent, w(name))
    for key, value in attributes.items():
        made.set(w(key), value)
    return made


def with_section(section: Element) -> Element:
    """Return a new paragraph that ends a section; what is said of the section moves into it."""
    made = element("p")
    child(made, "pPr").append(section)
    return made


def element_name(found: Element) -> str:
    """Return the name of an element without its namespace; what is no element has none."""
    return etree.QName(found).localname if isinstance(found.tag, str) else ""


def hyperlink(parent: Element, relationship_id: str) -> Element:
    """Return a new last child of an element that leads where a relationship does."""
    made = etree.SubElement(parent, w("hyperlink"), nsmap=_LINK_PREFIXES)
    made.set(R_ID, relationship_id)
    return made


def value(parent: Element | None, name: str) -> str | None:
    """Return the `w:val` of a child, or None when there is no such child or no value."""
    found = None if parent is None else parent.find(w(name))
    return None if found is None else found.get(VAL)
