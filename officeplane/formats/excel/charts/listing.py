"""Charts: those on a sheet, and what they are called."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from officeplane.formats.package import Package
from officeplane.formats.relationships import Relationships
from officeplane.formats.xml import Element


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart."""

    part: str
    title: str

    @property
    def id(self) -> str:
        """The id of its node."""
        return f"chart-{posixpath.basename(self.part).removesuffix('.xml')}"


def charts_of(package: Package, sheet: str) -> Iterator[Chart]:
    """Yield the charts on a sheet, by its part."""
    for drawing in Relationships(package, sheet).of_type("drawing"):
        if drawing.target not in package:
            continue
        arrows = Relationships(package, drawing.target)
        for arrow in (*arrows.of_type("chart"), *arrows.of_type("chartEx")):
            if arrow.target in package:
                yield Chart(arrow.target, _title(package.tree(arrow.target)))


def _title(root: Element) -> str:
    title = root.find("{*}chart/{*}title")
    if title is None:
        return "Chart"
    written = "".join(each.text or "" for each in title.iter("{*}t"))
    return written or "".join(each.text or "" for each in title.iter("{*}v")) or "Chart"
