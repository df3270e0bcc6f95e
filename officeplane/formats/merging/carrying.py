"""Carrying: what an upload refers to comes along into the head's file, if it can be taken there whole."""

from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.formats.merging.canonical import Arrows, is_relation
from officeplane.formats.package import Package
from officeplane.formats.pictures.bitmap import bitmap
from officeplane.formats.pictures.parts import put_picture
from officeplane.formats.relationships import Relationship, Relationships
from officeplane.formats.xml import Element

_IMAGE: Final = "image"
_LINK: Final = "hyperlink"


class CannotCarryError(Exception):
    """Why a node of the upload cannot come into the head: a part of a sentence."""


def carry_relation(arrow: Relationship | None, source: Package, package: Package, part: str) -> str:
    """Return the id by which a part of the head names what a part of the upload leads to: a picture or a link."""
    if arrow is None:
        message = "it refers to something that the upload does not have"
        raise CannotCarryError(message)
    kind = arrow.type.rpartition("/")[2]
    if kind == _LINK and arrow.is_external:
        known = next(
            (one.id for one in Relationships(package, part).of_type(_LINK) if one.target == arrow.target), None
        )
        return known or Relationships(package, part).add(_LINK, arrow.target, is_external=True)
    if kind != _IMAGE or arrow.is_external or arrow.target not in source:
        message = f"it has a {kind} in it, which cannot be carried over"
        raise CannotCarryError(message)
    try:
        return put_picture(package, part, bitmap(source.content(arrow.target)))
    except InvalidEditError as error:
        raise CannotCarryError(str(error)) from None


def carry_relations(element: Element, arrows: Arrows, source: Package, package: Package, part: str) -> None:
    """Have an element and all in it name by the ids of a part of the head what they named in the upload."""
    for one in element.iter():
        for name, said in list(one.attrib.items()):
            if is_relation(str(name)) and said:
                one.set(name, carry_relation(arrows.by_id.get(str(said)), source, package, part))
