"""Parts of shapes: what a shape names by relationships of its slide, such as a picture or a chart."""

from collections.abc import Iterator
from typing import Final

from officeplane.formats.package import Package
from officeplane.formats.relationships import OFFICE, Relationship, Relationships
from officeplane.formats.xml import Element

_DIAGRAM: Final = "diagramData"
_DRAWN: Final = "diagramDrawing"


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


def is_reference(name: str | bytes) -> bool:
    """Tell whether an attribute names a relationship."""
    return str(name).startswith(f"{{{OFFICE}}}")
