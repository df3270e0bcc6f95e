"""Placeholders: the shapes by which a slide says which text is its title and which its body."""

import re
from collections.abc import Iterator
from typing import Final

from officeplane.formats.powerpoint.names import p, under
from officeplane.formats.powerpoint.shapes import SHAPE, properties, settings, shapes
from officeplane.formats.powerpoint.text_shapes import add_text_shape
from officeplane.formats.xml import Element

_TITLES: Final = frozenset({"title", "ctrTitle"})
_BODIES: Final = ("obj", "body", "subTitle")  # in the order of preference
_OF_THE_PROGRAM: Final = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})
_NAMES: Final = {"title": "Title", "ctrTitle": "Title", "subTitle": "Subtitle", "obj": "Content Placeholder",
                 "pic": "Picture Placeholder", "chart": "Chart Placeholder", "tbl": "Table Placeholder"}  # fmt: skip
COPIED: Final = ("type", "orient", "sz", "idx")


def placeholder(shape: Element) -> Element | None:
    """Return what says that a shape is a placeholder."""
    found = settings(shape)
    return None if found is None else found.find(p("ph"))


def kind(shape: Element) -> str | None:
    """Return what a placeholder is for, such as `title` or `obj`; None for other shapes."""
    found = placeholder(shape)
    return None if found is None else found.get("type", "obj")


def is_title(shape: Element) -> bool:
    """Tell whether a shape holds the title of its slide."""
    return kind(shape) in _TITLES


def is_of_the_program(shape: Element) -> bool:
    """Tell whether a shape is a date, a footer, a number or a picture of the slide."""
    return kind(shape) in _OF_THE_PROGRAM


def title(root: Element) -> Element | None:
    """Return the shape of a slide or layout that holds the title."""
    return next((shape for shape in _texts(root) if is_title(shape)), None)


def body(root: Element) -> Element | None:
    """Return the shape of a slide or layout that holds the content."""
    found = [(kind(shape), shape) for shape in _texts(root)]
    for wanted in _BODIES:
        for of_kind, shape in found:
            if of_kind == wanted:
                return shape
    return None


def _texts(root: Element) -> Iterator[Element]:
    return (shape for shape in shapes(root) if shape.tag == SHAPE)


def copied(layout: Element) -> Iterator[Element]:
    """Yield the placeholders of a layout that a new slide has too."""
    return (shape for shape in _texts(layout) if kind(shape) is not None and not is_of_the_program(shape))


def add_placeholder(root: Element, like: Element) -> Element:
    """Add an empty placeholder to a slide, like one of its layout, as PowerPoint does."""
    origin = placeholder(like)
    given = properties(like)
    name = re.sub(r"[\s\d]+$", "", "" if given is None else given.get("name", ""))
    made = add_text_shape(root, name or _NAMES.get(kind(like) or "", "Text Placeholder"), is_placeholder=True)
    holder = settings(made)
    if holder is not None and origin is not None:
        attributes = {key: value for key in COPIED if (value := origin.get(key)) is not None}
        under(holder, p("ph"), **attributes)
    return made


def counterpart(shape: Element, above: Element) -> Element | None:
    """Return the placeholder of a layout that one of a slide takes after, or of a master that one of a layout does."""
    own = placeholder(shape)
    if own is None:
        return None
    if is_title(shape):
        return title(above)
    index = own.get("idx", "0")
    for other in _texts(above):
        found = placeholder(other)
        if found is not None and found.get("idx", "0") == index and not is_title(other):
            return other
    return None
