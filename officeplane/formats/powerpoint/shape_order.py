"""Order of shapes: which lies in front of which on its slide."""

from officeplane.domain.document import InvalidEditError
from officeplane.formats.powerpoint.names import p
from officeplane.formats.powerpoint.shapes import shape_tree, unit
from officeplane.formats.xml import Element


def move_beside(shape: Element, beside: Element, *, is_after: bool) -> None:
    """Put a shape right behind another one, or right in front of it."""
    one, other = unit(shape), unit(beside)
    parent = one.getparent()
    if one is other:
        raise InvalidEditError("a shape cannot be moved before or after itself")
    if parent is None or parent is not other.getparent():
        raise InvalidEditError("one of the two shapes lies in a group that the other is not in: move it within its own")
    parent.remove(one)
    (other.addnext if is_after else other.addprevious)(one)


def bring_to_front(root: Element, shape: Element) -> None:
    """Put a shape in front of all others."""
    tree, own = shape_tree(root), unit(shape)
    tree.remove(own)
    extensions = tree.find(p("extLst"))
    if extensions is None:
        tree.append(own)
    else:
        extensions.addprevious(own)


def is_grouped(shape: Element) -> bool:
    """Tell whether a shape lies in a group."""
    parent = unit(shape).getparent()
    return parent is not None and parent.tag == p("grpSp")
