"""What a slide itself says of how something looks, in the words of the edit `format`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from officeplane.formats.powerpoint.fitting import POINT
from officeplane.formats.powerpoint.looks.properties import FILLS
from officeplane.formats.powerpoint.names import a, attribute_number, p
from officeplane.formats.powerpoint.paragraphs import BREAK, FIELD, RUN
from officeplane.formats.powerpoint.shapes import SHAPE
from officeplane.formats.powerpoint.table_grid import PROPERTIES
from officeplane.formats.xml import Element

_SAYING: Final = frozenset({RUN, BREAK, FIELD})
_ON: Final = frozenset({"1", "true"})
_ALIGNMENTS: Final = {"l": "left", "ctr": "center", "r": "right", "just": "justify"}
_ANCHORS: Final = {"t": "top", "ctr": "center", "b": "bottom"}
_SPACING: Final = (("before", "spcBef"), ("after", "spcAft"), ("line", "lnSpc"))


def look_of_text(paragraphs: Sequence[Element]) -> dict[str, Any]:
    """Return what all letters and all paragraphs of a text have in common, and in `mixed` what only some have."""
    formats: list[Mapping[str, Any]] = []
    for paragraph in paragraphs:
        runs = [child for child in paragraph if child.tag in _SAYING]
        formats += [dict(_of_letters(run.find(a("rPr")))) for run in runs]
    if not formats:
        formats = [dict(_of_letters(paragraph.find(a("endParaRPr")))) for paragraph in paragraphs]
    letters, of_letters = _in_common(formats)
    lines, of_lines = _in_common([dict(_of_paragraph(paragraph.find(a("pPr")))) for paragraph in paragraphs])
    mixed = [*of_letters, *of_lines]
    return {**letters, **lines, **({"mixed": mixed} if mixed else {})}


def look_of_shape(shape: Element) -> dict[str, Any]:
    """Return what fills a shape, and how its text stands in it."""
    form = shape.find(f"{p('txBody')}/{a('bodyPr')}") if shape.tag == SHAPE else None
    said = dict(_of_fill(shape.find(p("spPr"))))
    if form is not None and form.get("anchor") in _ANCHORS:
        said["verticalAlign"] = _ANCHORS[form.get("anchor", "")]
    if form is not None and form.get("wrap") is not None:
        said["wrap"] = form.get("wrap") != "none"
    return said


def look_of_cell(cell: Element) -> dict[str, Any]:
    """Return what fills a cell, and where its text stands in it."""
    properties = cell.find(PROPERTIES)
    said = dict(_of_fill(properties))
    if properties is not None and properties.get("anchor") in _ANCHORS:
        said["verticalAlign"] = _ANCHORS[properties.get("anchor", "")]
    return said


def _of_letters(properties: Element | None) -> Iterator[tuple[str, Any]]:
    if properties is None:
        return
    for name, attribute in (("bold", "b"), ("italic", "i")):
        if (value := properties.get(attribute)) is not None:
            yield name, value in _ON
    for name, attribute, none in (("underline", "u", "none"), ("strike", "strike", "noStrike")):
        if (value := properties.get(attribute)) is not None:
            yield name, value != none
    for name, path in (
        ("color", f"{a('solidFill')}/{a('srgbClr')}"),
        ("highlight", f"{a('highlight')}/{a('srgbClr')}"),
    ):
        if (found := properties.find(path)) is not None:
            yield name, found.get("val", "").upper()
    if (font := properties.find(a("latin"))) is not None:
        yield "font", font.get("typeface", "")
    if properties.get("sz") is not None:
        yield "size", attribute_number(properties, "sz", 0) / 100


def _of_paragraph(properties: Element | None) -> Iterator[tuple[str, Any]]:
    if properties is None:
        return
    if (align := properties.get("algn")) is not None:
        yield "align", _ALIGNMENTS.get(align, align)
    if properties.get("marL") is not None:
        yield "indent", round(attribute_number(properties, "marL", 0) / POINT, 2)
    spacing = {
        name: attribute_number(found, "val", 0) / 100
        for name, tag in _SPACING
        if (found := properties.find(f"{a(tag)}/{a('spcPts')}")) is not None
    }
    if spacing:
        yield "spacing", spacing


def _of_fill(properties: Element | None) -> Iterator[tuple[str, Any]]:
    if properties is None or not any(properties.find(a(fill)) is not None for fill in FILLS):
        return
    colour = properties.find(f"{a('solidFill')}/{a('srgbClr')}")
    if colour is not None:
        yield "fill", colour.get("val", "").upper()
    elif properties.find(a("noFill")) is not None:
        yield "fill", "none"


def _in_common(formats: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], list[str]]:
    names = dict.fromkeys(name for each in formats for name in each)
    common = {
        name: formats[0][name] for name in names if all(each.get(name) == formats[0].get(name) for each in formats)
    }
    return common, [name for name in names if name not in common]
