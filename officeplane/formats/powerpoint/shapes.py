"""Shapes: what lies on a slide, through groups and alternatives."""

from collections.abc import Iterator
from typing import Final

from officeplane.domain.document import UnsupportedDocumentError
from officeplane.formats.powerpoint.marks import last_shape_number
from officeplane.formats.powerpoint.names import COMPATIBILITY, a, attribute_number, p
from officeplane.formats.xml import Element

SHAPE: Final = p("sp")
PICTURE: Final = p("pic")
FRAME: Final = p("graphicFrame")
GROUP: Final = p("grpSp")
CONNECTOR: Final = p("cxnSp")
_ALTERNATIVES: Final = f"{{{COMPATIBILITY}}}AlternateContent"
_CHOICE: Final = f"{{{COMPATIBILITY}}}Choice"
_FALLBACK: Final = f"{{{COMPATIBILITY}}}Fallback"
_LEAVES: Final = frozenset({SHAPE, PICTURE, FRAME, CONNECTOR})
_NON_VISUAL: Final = frozenset(
    p(name) for name in ("nvSpPr", "nvPicPr", "nvGraphicFramePr", "nvGrpSpPr", "nvCxnSpPr", "nvContentPartPr")
)
_ABOUT: Final = p("cNvPr")
_SETTINGS: Final = p("nvPr")
_TABLE: Final = f"{a('graphic')}/{a('graphicData')}/{a('tbl')}"


def shape_tree(root: Element) -> Element:
    """Return where the shapes of a slide, layout, master or notes page are."""
    found = root.find(f"{p('cSld')}/{p('spTree')}")
    if found is None:
        raise UnsupportedDocumentError("malformed_slide", "a slide of the presentation has no tree of shapes")
    return found


def shapes(root: Element) -> Iterator[Element]:
    """Yield every single shape in order; of alternatives the preferred one."""
    return _leaves(shape_tree(root))


def _leaves(parent: Element) -> Iterator[Element]:
    for child in parent:
        if child.tag in _LEAVES:
            yield child
        elif child.tag == GROUP:
            yield from _leaves(child)
        elif child.tag == _ALTERNATIVES:
            chosen = child.find(_CHOICE)
            if chosen is None:
                chosen = child.find(_FALLBACK)
            if chosen is not None:
                yield from _leaves(chosen)


def on_top_level(root: Element) -> Iterator[Element]:
    """Yield the shapes and groups of a slide; of alternatives what is in the preferred one."""
    for child in shape_tree(root):
        if child.tag in _LEAVES or child.tag == GROUP:
            yield child
        elif child.tag == _ALTERNATIVES:
            yield from (each for each in child.iterfind(f"{_CHOICE}/*") if each.tag in _LEAVES or each.tag == GROUP)


def fallbacks(root: Element) -> Iterator[Element]:
    """Yield what older programs show instead of shapes they do not know."""
    for found in shape_tree(root).iter(_FALLBACK):
        beside = found.getparent()
        if beside is not None and beside.find(_CHOICE) is not None:
            yield found


def properties(shape: Element) -> Element | None:
    """Return `p:cNvPr`, which holds a shape's number and name."""
    return _said_of(shape, _ABOUT)


def settings(shape: Element) -> Element | None:
    """Return `p:nvPr`, which says what placeholder a shape is."""
    return _said_of(shape, _SETTINGS)


def _said_of(shape: Element, tag: str) -> Element | None:
    for child in shape:  # the first one, in any sound file
        if child.tag in _NON_VISUAL:
            return child.find(tag)
    return None


def table(shape: Element) -> Element | None:
    """Return the table that a shape holds."""
    return shape.find(_TABLE) if shape.tag == FRAME else None


def unit(shape: Element) -> Element:
    """Return what stands for a shape among the others: itself, or the alternatives of which it is one."""
    for around in shape.iterancestors():
        if around.tag == _ALTERNATIVES:
            return around
        if around.tag == GROUP:
            break
    return shape


def next_shape_number(root: Element) -> int:
    """Return a number that no shape of a slide has, or had when it was taken off."""
    taken = max((attribute_number(found, "id", 0) for found in root.iter(p("cNvPr"))), default=1)
    return 1 + max(taken, last_shape_number(root))
