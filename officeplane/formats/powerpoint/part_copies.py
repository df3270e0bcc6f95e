"""Copies of parts: what a copied slide or shape has for itself, and what it shares with the original."""

import posixpath
import re
from collections.abc import Container
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.shape_parts import arrows_of, is_reference
from officeplane.formats.powerpoint.slides import free_name
from officeplane.formats.relationships import Relationship, Relationships, content_type, declare
from officeplane.formats.xml import Element

MEDIA: Final = frozenset({"image", "media", "audio", "video", "hdphoto"})
"""What may be shown by many, and is kept once."""

_SHARED: Final = MEDIA | {
    "slideLayout", "slideMaster", "theme", "notesMaster", "handoutMaster", "slide", "font",
}  # fmt: skip


def copy_part(package: Package, part: str, copies: dict[str, str]) -> str:
    """Return a copy of a part, with copies of all that is its own; each is made once."""
    if part not in copies:
        folder, name = posixpath.split(part)
        stem, _, extension = name.rpartition(".")
        made = copies[part] = free_name(package, folder, re.sub(r"\d+$", "", stem), extension)
        package.put(made, package.content(part))
        kind = content_type(package, part)
        if kind is not None:
            declare(package, made, kind)
        copy_arrows(package, part, made, copies)
    return copies[part]


def copy_arrows(
    package: Package, part: str, made: str, copies: dict[str, str], *, without: Container[str] = ()
) -> None:
    """Give a copy the arrows of the original, under their ids, but for those `without` which it should be."""
    arrows = Relationships(package, made)
    for arrow in [*Relationships(package, part)]:
        if arrow.id not in without:
            arrows.repeat(arrow, _target(package, arrow, copies))


def carry(package: Package, element: Element, origin: str, part: str, *, is_copy: bool) -> None:
    """Give a part what an element uses that comes from another one, or is a copy in the same."""
    copies: dict[str, str] = {}
    arrows = Relationships(package, part)
    ids: dict[str, str] = {}
    data: list[str] = []
    for arrow in [*arrows_of(package, origin, element)]:
        target = _target(package, arrow, copies) if is_copy else arrow.target
        known = next((each.id for each in arrows if (each.type, each.target) == (arrow.type, target)), None)
        ids[arrow.id] = known or arrows.add(arrow.type, target, is_external=arrow.is_external)
        if arrow.type.endswith("/diagramData"):
            data.append(target)
    for within in element.iter("*"):
        for name, value in within.attrib.items():
            if is_reference(name) and value in ids:
                within.set(name, ids[value])
    for each in data:
        _name_drawing(package, each, ids)


def _target(package: Package, arrow: Relationship, copies: dict[str, str]) -> str:
    if arrow.is_external or arrow.target not in package:
        return arrow.target
    if arrow.type.rsplit("/", 1)[-1] in _SHARED:
        return copies.get(arrow.target, arrow.target)
    return copy_part(package, arrow.target, copies)


def _name_drawing(package: Package, part: str, ids: dict[str, str]) -> None:
    """Have the data of a diagram name its drawing as the part does that shows it."""
    for each in package.tree(part).iter("{*}dataModelExt"):
        if each.get("relId", "") in ids:
            each.set("relId", ids[each.get("relId", "")])
            package.changed(part)
