"""Layouts of slides: a slide takes another one, and its placeholders the places of their kind there."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from officeplane.domain.warning import EditWarning, Loss
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.inheritance import Room
from officeplane.formats.powerpoint.layouts import Layout
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH, text_of
from officeplane.formats.powerpoint.placeholders import (
    COPIED,
    add_placeholder,
    is_of_the_program,
    is_title,
    kind,
    placeholder,
)  # fmt: skip
from officeplane.formats.powerpoint.shape_copies import settle_placeholder
from officeplane.formats.powerpoint.shape_removal import drop_parts, losses_with, number_of, take_off
from officeplane.formats.powerpoint.shapes import FRAME, PICTURE, SHAPE, shape_tree, shapes
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

UNPLACED: Final = "unplaced"
"""The code of what a layout has no place for."""

_SHOWN: Final = 40
_TEXTS: Final = ("obj", "body", "subTitle")
_FAMILIES: Final = {SHAPE: _TEXTS, PICTURE: ("pic", "obj", "clipArt", "media"), FRAME: ("obj", "tbl", "chart", "dgm")}


class Relaid(NamedTuple):
    """What is lost with an empty placeholder that goes, and what stays where it was."""

    losses: list[Loss]
    warnings: list[EditWarning]


def take_layout(package: Package, slide: Slide, layout: Layout, room: Room) -> Relaid:
    """Have a slide take a layout; `room` is what it had before."""
    root = package.tree(slide.part)
    own = [shape for shape in shapes(root) if placeholder(shape) is not None]
    free = [shape for shape in shapes(layout.root) if placeholder(shape) is not None]
    done = Relaid([], [])
    # What says something comes first, what has its like comes before what has only its kin.
    left = sorted(own, key=_is_empty)
    for fits in _ways():
        left = [shape for shape in left if not _placed(shape, free, fits)]
    for shape in left:
        if _is_empty(shape):
            done.losses.extend([*losses_with(package, slide, shape), *take_off(package, slide, shape)])
            drop_parts(package, slide, shape)
            continue
        settle_placeholder(shape, shape, room)
        what = " ".join(" ".join(text_of(each) for each in shape.iter(PARAGRAPH)).split()) or kind(shape)
        shown = str(what) if len(str(what)) <= _SHOWN else str(what)[: _SHOWN - 1] + "…"
        sentence = f"the layout {layout.name!r} has no place for {shown!r}: it stays where it was"
        done.warnings.append(EditWarning(UNPLACED, sentence, f"{slide.id}.{number_of(shape)}"))
    for like in free:
        if like.tag == SHAPE and not is_of_the_program(like):
            made = add_placeholder(root, like)
            if is_title(made):
                tree = shape_tree(root)
                tree.remove(made)
                tree.insert(2, made)
    arrows = Relationships(package, slide.part)
    arrows.remove(*(arrow.id for arrow in arrows.of_type("slideLayout")))
    arrows.add("slideLayout", layout.part)
    package.changed(slide.part)
    return done


def _ways() -> Iterator[Callable[[Element, Element], bool]]:
    """Yield by what a placeholder and one of the layout are for each other, the closest first."""
    yield lambda one, other: is_title(one) and is_title(other)
    yield lambda one, other: kind(one) == kind(other) and _index(one) == _index(other)
    yield lambda one, other: kind(one) == kind(other)
    yield lambda one, other: not _is_empty(one) and _is_kin(one, other)


def _placed(shape: Element, free: list[Element], fits: Callable[[Element, Element], bool]) -> bool:
    """Give a placeholder the first free place that fits; tell whether there was one."""
    found = next((other for other in free if fits(shape, other)), None)
    own, theirs = placeholder(shape), None if found is None else placeholder(found)
    if found is None or own is None or theirs is None:
        return False
    free.remove(found)
    for name in COPIED:
        value = theirs.get(name)
        if value is None:
            own.attrib.pop(name, None)
        else:
            own.set(name, value)
    return True


def _is_kin(one: Element, other: Element) -> bool:
    """Tell whether what fills one can stand in the other."""
    family = _FAMILIES.get(str(one.tag), ())
    is_text = one.tag != SHAPE or kind(one) in _TEXTS
    return is_text and not is_title(one) and not is_title(other) and kind(other) in family


def _index(shape: Element) -> str:
    found = placeholder(shape)
    return "0" if found is None else found.get("idx", "0")


def _is_empty(shape: Element) -> bool:
    return shape.tag == SHAPE and not any(text_of(each).strip() for each in shape.iter(PARAGRAPH))
