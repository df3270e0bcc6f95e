"""Parts of shapes: what a shape names by relationships of its slide, such as a picture or a chart."""

from collections.abc import Iterator
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.powerpoint.names import R_ID, a
from officeplane.formats.relationships import OFFICE, Relationship, Relationships
from officeplane.formats.xml import Element

_DIAGRAM: Final = "diagramData"
_DRAWN: Final = "diagramDrawing"
_FRAMED: Final = f"{a('graphic')}/{a('graphicData')}/*"


def arrows_of(package: Package, part: str, element: Element) -> Iterator[Relationship]:
    """Yield the relationships that an element of a part uses, with the drawing of a diagram that its data names."""
    used = {value for each in element.iter("*") for name, value in each.attrib.items() if is_reference(name)}
    arrows = [*Relationships(package, part)]
    for arrow in arrows:
        if arrow.id not in used:
            continue
        yield arrow
        if arrow.type.endswith(f"/{_DIAGRAM}") and arrow.target in package:
            named = {each.get("relId", "") for each in package.tree(arrow.target).iter("{*}dataModelExt")}
            yield from (each for each in arrows if each.id in named and each.type.endswith(f"/{_DRAWN}"))


def chart_part(package: Package, user: str, shape: Element) -> str | None:
    """Return the part of the chart that a frame shows, None if it shows none."""
    held = shape.find(_FRAMED)
    if held is None or not str(held.tag).endswith("}chart"):
        return None
    wanted = held.get(R_ID, "")
    arrows = (arrow for arrow in Relationships(package, user) if arrow.id == wanted and not arrow.is_external)
    return next((arrow.target for arrow in arrows if arrow.target in package), None)


def is_reference(name: str | bytes) -> bool:
    """Tell whether an attribute names a relationship."""
    return str(name).startswith(f"{{{OFFICE}}}")
