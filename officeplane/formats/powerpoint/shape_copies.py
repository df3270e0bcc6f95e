"""Copies of shapes: on their slide, right after the original, or on another one."""

from copy import deepcopy
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.geometry import area_of
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.insets import of_shape
from officeplane.formats.powerpoint.marks import unmark
from officeplane.formats.powerpoint.names import a, attribute_number, p
from officeplane.formats.powerpoint.part_copies import carry
from officeplane.formats.powerpoint.placeholders import is_title, placeholder
from officeplane.formats.powerpoint.shapes import next_shape_number, settings, unit
from officeplane.formats.powerpoint.text_shapes import set_area
from officeplane.formats.xml import Element

_OFFSET: Final = 228_600
_GLUE: Final = (a("stCxn"), a("endCxn"))
NOWHERE: Final = "4294967295"
"""How PowerPoint numbers a placeholder that its layout has no counterpart for."""


def copied(package: Package, part: str, shape: Element, to: str, room: Room) -> Element:
    """Return a copy of a shape, for another slide or for its own, with numbers of its own and all that it needs."""
    is_copy = part == to
    inset = of_shape(shape)
    if is_title(shape):
        raise InvalidEditError(
            "a title belongs to its slide, which has one: edit_node writes the title of another slide"
        )
    if inset is not None and inset.kind == "object":
        raise InvalidEditError("an object of another program cannot be copied by itself: duplicate its slide")
    origin = unit(shape)
    before = [*origin.iter("*")]
    made = deepcopy(origin)
    twin = [*made.iter("*")][before.index(shape)]
    settle_placeholder(twin, shape, room)
    holder = settings(twin)
    if holder is not None:
        unmark(holder)
    for glue in [*made.iter(*_GLUE)]:
        drop(glue)
    forget_creation(made)
    carry(package, made, part, to, is_copy=is_copy)
    _number(made, package.tree(to), must_be_new=is_copy)
    return made


def shift(made: Element) -> None:
    """Put a copy a little to the right and down, so that one can see it."""
    for offset in [each for each in made.iter(a("off")) if _is_of_shape(each)]:
        for name in ("x", "y"):
            offset.set(name, str(attribute_number(offset, name, 0) + _OFFSET))


def settle_placeholder(shape: Element, like: Element, room: Room) -> None:
    """Have a placeholder stay as it is without the layout's that it takes after."""
    own = placeholder(shape)
    if own is None:
        return
    if area_of(shape) is None:
        set_area(shape, room.of(like))
    origin = room.origin(like)
    for name in ("lstStyle", "bodyPr"):
        theirs = None if origin is None else origin.find(f"{p('txBody')}/{a(name)}")
        ours = shape.find(f"{p('txBody')}/{a(name)}")
        if theirs is not None and ours is not None and not len(ours) and not ours.attrib:
            parent = ours.getparent()
            if parent is not None:
                parent.replace(ours, deepcopy(theirs))
    own.set("idx", NOWHERE)


def forget_creation(element: Element) -> None:
    """Take out by what id a program knows when something was made: a copy was made another time."""
    for found in [*element.iter("{*}creationId")]:
        extension = found.getparent()
        extensions = None if extension is None else extension.getparent()
        if extension is None or extensions is None or not str(extension.tag).endswith("}ext"):
            continue
        extensions.remove(extension)
        if len(extensions) == 0:
            drop(extensions)


def drop(element: Element) -> None:
    """Take an element out of its tree."""
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _number(made: Element, root: Element, *, must_be_new: bool) -> None:
    """Number what is copied: alternatives that were numbered alike still are."""
    taken = {about.get("id", "") for about in root.iter(p("cNvPr"))}
    free = next_shape_number(root)
    given: dict[str, str] = {}
    for about in made.iter(p("cNvPr")):
        was = about.get("id", "")
        if was not in given:
            is_free = not must_be_new and was not in taken and was.isdecimal() and int(was) >= free
            given[was] = was if is_free else str(free)
            free = max(free, int(given[was]) + 1)
        about.set("id", given[was])


def _is_of_shape(offset: Element) -> bool:
    transform = offset.getparent()
    return transform is not None and transform.tag in {a("xfrm"), p("xfrm")}
