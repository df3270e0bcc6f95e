"""XML as it lies in packages: parsed without entities, networks or surprises."""

import re
from typing import Final

from lxml import etree

from officeplane.domain.document import UnsupportedDocumentError

Element = etree._Element  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the library's only name for the type of a node
"""A node of a parsed part."""


def parse(data: bytes) -> Element:
    """Return the root of a part; a part that is no well-formed XML is refused."""
    # A parser of its own each time: lxml's keep state of the last document.
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise UnsupportedDocumentError("malformed_xml", f"a part is not well-formed XML: {error}") from None


def serialise(root: Element) -> bytes:
    """Return a part's bytes, always the same for the same tree."""
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


def take_out(element: Element) -> None:
    """Remove an element from its tree for good, with all that is in it.

    From the innermost on: to remove a large element as it is takes lxml time in squares,
    because it looks for the namespaces of all that is inside.
    """
    for inner in reversed([*element.iter("*")]):
        inner.clear()
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def take_off(element: Element) -> None:
    """Remove an element from its tree to put it elsewhere; the text behind it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
        element.tail = None
    parent.remove(element)


_NOT_STORABLE: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def is_storable(text: str) -> bool:
    """Tell whether XML can hold every character of a text."""
    return _NOT_STORABLE.search(text) is None
