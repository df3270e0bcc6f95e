"""Formats of cells: the number of the one that a cell gets, found among those there are or added."""

from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.excel.looks.change import FormatChange
from officeplane.formats.excel.looks.frames import change_lines, fill_of
from officeplane.formats.excel.looks.letters import change_letters
from officeplane.formats.excel.looks.named_styles import NamedStyles
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.stylesheet import (
    BORDERS,
    CELL_FORMATS,
    FILLS,
    FONTS,
    NAMED_FORMATS,
    Stylesheet,
    shape,
)
from officeplane.formats.excel.tags import main
from officeplane.formats.package import Package
from officeplane.formats.xml import Element

FORMATS_MAX: Final = 65_490
"""More formats of cells Excel does not take."""

_XF: Final = main("xf")
_ALIGNMENT: Final = main("alignment")
_STANDS_AT_A_SIDE: Final = frozenset(("left", "right", "distributed"))
# What the first entries of each list are taken for by cells that say nothing.
_FIRST: Final = {
    FONTS: ('<font><sz val="11"/><name val="Calibri"/></font>',),
    FILLS: ('<fill><patternFill patternType="none"/></fill>', '<fill><patternFill patternType="gray125"/></fill>'),
    BORDERS: ("<border><left/><right/><top/><bottom/><diagonal/></border>",),
    CELL_FORMATS: ('<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>',),
}


class CellFormats:
    """Gives cells the format that they have with a change; each change of each format is made once."""

    def __init__(self, package: Package, workbook: str) -> None:
        self._sheet = Stylesheet(package, workbook)
        self._known: dict[FormatChange, dict[str, str]] = {}
        self._last: tuple[FormatChange | None, dict[str, str]] = (None, {})

    def changed(self, style: str | None, change: FormatChange) -> str | None:
        """Return the number of the format that is this one but for the change; itself, if it says all that already."""
        if self._last[0] is not change:
            # Of many cells the change is the same one: it need not be looked up for each.
            self._last = (change, self._known.setdefault(change, {}))
        before = style or "0"
        after = self._last[1].get(before)
        if after is None:
            after = self._last[1][before] = self._change(before, change)
        return style if after == before else after

    def _change(self, style: str, change: FormatChange) -> str:
        self._fill_up(CELL_FORMATS)
        before = self._sheet.entry(CELL_FORMATS, whole(style, 0))
        if before is None:
            before = self._sheet.entry(CELL_FORMATS, 0)
        if before is None or before.tag != _XF:
            before = etree.Element(_XF)
        after = deepcopy(before)
        after.tail = None
        if change.style is not None:
            NamedStyles(self._sheet).give(after, change.style)
        if change.number_format is not None:
            self._name(after, "numFmtId", "applyNumberFormat", self._sheet.number_of_code(change.number_format))
        if change.is_of_fonts:
            font = self._copy(FONTS, after.get("fontId"))
            change_letters(font, change)
            self._name(after, "fontId", "applyFont", self._sheet.put(FONTS, font))
        if change.fill is not None:
            self._fill_up(FILLS)
            self._name(after, "fillId", "applyFill", self._sheet.put(FILLS, fill_of(change.fill)))
        if change.edges:
            border = self._copy(BORDERS, after.get("borderId"))
            change_lines(border, change.edges)
            self._name(after, "borderId", "applyBorder", self._sheet.put(BORDERS, border))
        if change.is_of_places:
            _place(after, change)
        if shape(after) == shape(before):
            return style
        if whole(after.get("xfId"), 0) >= len(self._sheet.entries(NAMED_FORMATS)):
            # The named style it was made from is not there; no new format should say so again.
            after.attrib.pop("xfId", None)
        return self._put(after)

    def _put(self, format: Element) -> str:
        number = self._sheet.number_of(CELL_FORMATS, format)
        if number is None:
            if len(self._sheet.entries(CELL_FORMATS)) >= FORMATS_MAX:
                raise InvalidEditError(
                    f"the workbook has {FORMATS_MAX} formats of cells, and Excel takes no more: "
                    "give these cells a format that others have"
                )
            number = self._sheet.put(CELL_FORMATS, format)
        return str(number)

    def _copy(self, tag: str, number: str | None) -> Element:
        self._fill_up(tag)
        found = self._sheet.entry(tag, whole(number, 0))
        if found is None:
            found = self._sheet.entry(tag, 0)
        made = deepcopy(found) if found is not None else etree.Element(tag.removesuffix("s"))
        made.tail = None
        return made

    def _fill_up(self, tag: str) -> None:
        if not self._sheet.entries(tag):
            for first in _FIRST[tag]:
                made = etree.fromstring(f'<x xmlns="{main("").strip("{}")}">{first}</x>')[0]
                self._sheet.put(tag, made)

    @staticmethod
    def _name(format: Element, attribute: str, flag: str, number: int) -> None:
        if whole(format.get(attribute), 0) != number or format.get(attribute) is None:
            format.set(attribute, str(number))
            format.set(flag, "1")


def _place(format: Element, change: FormatChange) -> None:
    alignment = format.find(_ALIGNMENT)
    if alignment is None:
        alignment = etree.Element(_ALIGNMENT)
        format.insert(0, alignment)
    before = dict(alignment.attrib)
    if change.align is not None:
        alignment.set("horizontal", change.align)
        if change.align not in _STANDS_AT_A_SIDE:
            alignment.attrib.pop("indent", None)
    if change.vertical is not None:
        alignment.set("vertical", change.vertical)
    if change.wrap:
        alignment.set("wrapText", "1")
        alignment.attrib.pop("shrinkToFit", None)
    elif change.wrap is not None:
        alignment.attrib.pop("wrapText", None)
    if change.indent is not None:
        alignment.attrib.pop("indent", None)
        if change.indent:
            alignment.set("indent", str(change.indent))
            if alignment.get("horizontal") not in _STANDS_AT_A_SIDE:
                # As Excel does it: what is not at a side cannot stand away from it.
                alignment.set("horizontal", "left")
    if dict(alignment.attrib) != before:
        format.set("applyAlignment", "1")
    if not alignment.attrib and len(alignment) == 0:
        format.remove(alignment)
