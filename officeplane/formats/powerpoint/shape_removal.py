"""Removal of shapes: a shape leaves its slide with what only it used, and with what was aimed at it."""

from collections.abc import Iterator
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import Loss
from officeplane.formats.package import Package
from officeplane.formats.powerpoint.animations import ANIMATION
from officeplane.formats.powerpoint.insets import Insets, of_shape
from officeplane.formats.powerpoint.marks import note_last_shape_number
from officeplane.formats.powerpoint.names import a, attribute_number, p
from officeplane.formats.powerpoint.paragraphs import PARAGRAPH
from officeplane.formats.powerpoint.removal import drop_unused
from officeplane.formats.powerpoint.shape_parts import arrows_of
from officeplane.formats.powerpoint.shapes import GROUP, next_shape_number, properties, shape_tree, unit
from officeplane.formats.powerpoint.slides import Slide
from officeplane.formats.powerpoint.timing import take_out_shapes
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element

_GLUE: Final = (a("stCxn"), a("endCxn"))
_OF_A_GROUP: Final = frozenset({p("nvGrpSpPr"), p("grpSpPr"), p("extLst")})


def losses_with(package: Package, slide: Slide, shape: Element) -> Iterator[Loss]:
    """Yield what goes with a shape besides its text."""
    insets = Insets(package, slide.part)
    inset = of_shape(shape)
    found = [*insets.in_text(shape.iter(PARAGRAPH)), *insets.clicked(shape)]
    if inset is not None and inset.kind != "table":
        found.insert(0, inset)
    for each in found:
        yield Loss(each.kind, slide.id, each.name)


def take_off(package: Package, slide: Slide, shape: Element) -> list[Loss]:
    """Take a shape off its slide, with its animations; return these, and what is no longer tied to it.

    A group that is empty then goes, too. Its parts stay: `drop_parts` is for those.
    """
    root = package.tree(slide.part)
    number = next_shape_number(root) - 1
    gone = unit(shape)
    parent = gone.getparent()
    if parent is None:
        raise InvalidEditError(f"a shape of {slide.id!r} cannot be taken off: it stands nowhere")
    parent.remove(gone)
    removed = [gone]
    while parent.tag == GROUP and parent is not shape_tree(root) and _is_empty(parent):
        around = parent.getparent()
        if around is None:
            break
        around.remove(parent)
        removed.append(parent)
        parent = around
    numbers = {about.get("id", "") for each in removed for about in each.iter(p("cNvPr"))}
    if str(number) in numbers:
        note_last_shape_number(root, number)
    losses = [Loss(ANIMATION, slide.id)] * take_out_shapes(root, numbers)
    for glue in [each for each in root.iter(*_GLUE) if each.get("id", "") in numbers]:
        holder = glue.getparent()
        about = None if holder is None else holder.getparent()
        named = None if about is None else about.find(p("cNvPr"))
        if holder is not None:
            holder.remove(glue)
            losses.append(Loss("end of connector", slide.id, "" if named is None else named.get("name", "")))
    package.changed(slide.part)
    return losses


def drop_parts(package: Package, slide: Slide, shape: Element) -> None:
    """Drop what only a shape used that was taken off: its arrows, and the parts to which nobody else leads."""
    still_used = {value for each in package.tree(slide.part).iter() for value in each.attrib.values()}
    arrows = Relationships(package, slide.part)
    ids = {arrow.id: arrow for arrow in arrows_of(package, slide.part, unit(shape))}
    doomed = [arrow for name, arrow in ids.items() if name not in still_used]
    arrows.remove(*(arrow.id for arrow in doomed))
    drop_unused(package, [arrow.target for arrow in doomed if not arrow.is_external])


def number_of(shape: Element) -> int:
    """Return the number by which a slide knows a shape."""
    about = properties(shape)
    return 0 if about is None else attribute_number(about, "id", 0)


def _is_empty(group: Element) -> bool:
    return all(child.tag in _OF_A_GROUP for child in group)
