"""Frames: what is behind a cell and the lines around it."""

from collections.abc import Iterable
from typing import Final

from lxml import etree

from officeplane.formats.excel.looks.change import Edge, Side
from officeplane.formats.excel.tags import main
from officeplane.formats.xml import Element

NO_LINE: Final = "none"
_COLOR: Final = main("color")
_ORDER: Final = [
    main(name) for name in ("start", "end", "left", "right", "top", "bottom", "diagonal", "vertical", "horizontal")
]


def fill_of(color: str) -> Element:
    """Return a fill of one colour, `RRGGBB`, or of none."""
    fill = etree.Element(main("fill"))
    pattern = etree.SubElement(fill, main("patternFill"))
    if color == "none":
        pattern.set("patternType", "none")
        return fill
    pattern.set("patternType", "solid")
    etree.SubElement(pattern, main("fgColor"), rgb=f"FF{color}")
    # What Excel writes for the colour behind a pattern that hides it.
    etree.SubElement(pattern, main("bgColor"), indexed="64")
    return fill


def change_lines(border: Element, edges: Iterable[tuple[Side, Edge]]) -> None:
    """Draw lines, or take them away; those of other sides stay."""
    for side, edge in edges:
        line = border.find(main(side))
        if line is None:
            line = etree.Element(main(side))
            place = _ORDER.index(main(side))
            before = [child for child in border if child.tag in _ORDER[:place]]
            border.insert(border.index(before[-1]) + 1 if before else 0, line)
        if edge.style == NO_LINE:
            line.attrib.pop("style", None)
            line[:] = []
            continue
        line.set("style", edge.style)
        color = line.find(_COLOR)
        if edge.color is not None:
            line[:] = []
            etree.SubElement(line, _COLOR, rgb=f"FF{edge.color}")
        elif color is None:
            etree.SubElement(line, _COLOR, auto="1")
