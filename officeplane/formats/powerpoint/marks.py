"""Marks: what edits leave in a file so that later ones know their own work.

They stand in extension lists, where PowerPoint looks past what it does not know.
"""

from typing import Final

from lxml import etree

from officeplane.formats.powerpoint.names import attribute_number, p, under
from officeplane.formats.xml import Element

_OURS: Final = "urn:officeplane:presentation"
_URI: Final = "{4B6E1F0A-52C3-5E0B-9D1C-0FF1CE0A1E55}"
_MARK: Final = f"{{{_OURS}}}mark"
_LAST: Final = f"{{{_OURS}}}slides"
_LAST_SHAPE: Final = f"{{{_OURS}}}shapes"


def is_marked(holder: Element | None) -> bool:
    """Tell whether an element with an extension list was marked."""
    return holder is not None and _find(holder, _MARK) is not None


def mark(holder: Element) -> None:
    """Mark an element; `holder` may have `p:extLst` as its last child."""
    if not is_marked(holder):
        _add(holder, _MARK)


def unmark(holder: Element) -> None:
    """Take the mark away, and the extension list if nothing else is in it."""
    found = _find(holder, _MARK)
    extension = None if found is None else found.getparent()
    extensions = None if extension is None else extension.getparent()
    if extension is None or extensions is None:
        return
    extensions.remove(extension)
    if len(extensions) == 0:
        holder.remove(extensions)


def last_slide_number(presentation: Element) -> int:
    """Return the highest number that a deleted slide had."""
    found = _find(presentation, _LAST)
    return 0 if found is None else attribute_number(found, "last", 0)


def note_last_slide_number(presentation: Element, number: int) -> None:
    """Remember the number of a slide that goes, so that no other slide is given it."""
    found = _find(presentation, _LAST)
    (_add(presentation, _LAST) if found is None else found).set("last", str(number))


def last_shape_number(slide: Element) -> int:
    """Return the highest number that a shape had that was taken off a slide."""
    found = _find(slide, _LAST_SHAPE)
    return 0 if found is None else attribute_number(found, "last", 0)


def note_last_shape_number(slide: Element, number: int) -> None:
    """Remember the number of a shape that goes, so that no other shape of the slide is given it."""
    found = _find(slide, _LAST_SHAPE)
    (_add(slide, _LAST_SHAPE) if found is None else found).set("last", str(number))


def extension_list(holder: Element) -> Element:
    """Return the list of extensions, the last child; made when there is none."""
    found = holder.find(p("extLst"))
    return under(holder, p("extLst")) if found is None else found


def _find(holder: Element, tag: str) -> Element | None:
    return holder.find(f"{p('extLst')}/{p('ext')}/{tag}")


def _add(holder: Element, tag: str) -> Element:
    extension = under(extension_list(holder), p("ext"), uri=_URI)
    return etree.SubElement(extension, tag, nsmap={"op": _OURS})
