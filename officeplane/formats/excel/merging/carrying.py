"""Carrying: cells of an upload as the head's workbook can hold them, with their formats."""

import re
from copy import deepcopy
from typing import Final

from lxml import etree

from officeplane.formats.excel.cells.addresses import Address
from officeplane.formats.excel.cells.grid import Row
from officeplane.formats.excel.cells.texts import read
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.looks.named_styles import NamedStyles
from officeplane.formats.excel.merging.book import Book, Held
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.stylesheet import BORDERS, CELL_FORMATS, FILLS, FONTS, Stylesheet
from officeplane.formats.excel.tags import FORMULA, INLINE
from officeplane.formats.merging.carrying import CannotCarryError
from officeplane.formats.xml import Element

_LISTED: Final = {"fontId": FONTS, "fillId": FILLS, "borderId": BORDERS}
_OTHER_WORKBOOK: Final = re.compile(r"\[[0-9]+\]")
_PHONETIC: Final = ("rPh", "phoneticPr")


class Carrying:
    """Writes cells of one sheet of an upload into the same sheet of the head."""

    def __init__(
        self,
        upload: Book,
        there: Sheet,
        head: Book,
        here: Sheet,
        all_cells: frozenset[Address],
        strange: frozenset[str],
    ) -> None:
        self._strange = strange
        """Names that mean something else in the head, or nothing."""
        self._upload = upload
        self._there = upload.grid(there)
        self._head = head
        self._sheet = here
        self._grid = head.grid(here)
        self._writer = SheetWriter(head.parts, here, all_cells)
        self._stylesheet = Stylesheet(head.parts.package, head.parts.workbook)
        self._styles: dict[str, str] = {}
        self._formats: dict[Address, str] = {}

    def content(self, at: Address, held: Held | None) -> None:
        """Give a cell what it holds in the upload."""
        if held is None:
            self._writer.set(at, None)
            return
        formula = held.cell.find(FORMULA)
        if formula is not None and formula.get("t") in {"array", "dataTable"}:
            message = "it is a formula that fills several cells, or spills, which cannot be carried over"
            raise CannotCarryError(message)
        if held.content.startswith(("d ", "other ")):
            message = "it holds a value of a kind that cannot be carried over"
            raise CannotCarryError(message)
        if formula is not None:
            self._check_formula(held.content)
        self._writer.set(at, self._upload.value(self._there, held.cell), is_copied=True)
        runs = self._upload.runs(held.cell) if formula is None else None
        cell = self._grid.cell(at)
        item = None if cell is None else cell.find(INLINE)
        if runs is not None and item is not None and read(item) == read(runs):
            item[:] = [_plain(one) for one in runs if etree.QName(one).localname not in _PHONETIC]

    def _check_formula(self, content: str) -> None:
        folded = content.casefold()
        named = next((name for name in self._strange if name and name.casefold() in folded), None)
        if named is not None:
            message = f"its formula refers to {named!r}, which is not in the document now, or is something else there"
            raise CannotCarryError(message)
        if _OTHER_WORKBOOK.search(content) is not None:
            message = "its formula refers to another workbook"
            raise CannotCarryError(message)

    def format(self, at: Address, held: Held | None) -> None:
        """Note the format that a cell is to have."""
        self._formats[at] = self._style(None if held is None else held.cell.get("s"))

    def finish(self) -> None:
        """Bring in order what depends on the cells, and give them their formats."""
        self._writer.finish()
        rows: dict[int, Row] = {}
        for at, style in self._formats.items():
            if at.row not in rows:
                element = self._grid.row(at.row)
                rows[at.row] = Row(self._grid.add_row(at.row) if element is None else element, at.row)
            cell = rows[at.row].find(at.column)
            (rows[at.row].add(at.column) if cell is None else cell).set("s", style)
        if self._formats:
            self._head.parts.package.changed(self._sheet.part)

    def _style(self, style: str | None) -> str:
        key = style or "0"
        if key not in self._styles:
            self._styles[key] = self._carried(key)
        return self._styles[key]

    def _carried(self, style: str) -> str:
        known = self._upload.stylesheet.entry(CELL_FORMATS, whole(style, 0))
        if known is None:
            return "0"
        made = _plain(known)
        for attribute, tag in _LISTED.items():
            entry = self._upload.stylesheet.entry(tag, whole(made.get(attribute), 0))
            made.set(attribute, "0" if entry is None else str(self._stylesheet.put(tag, _plain(entry))))
        code = self._upload.code(style)
        made.set("numFmtId", str(self._stylesheet.number_of_code(code)))
        named = NamedStyles(self._stylesheet).names.get(self._upload.named_style(known))
        made.attrib.pop("xfId", None)
        if named is not None:
            made.set("xfId", str(named))
        elif "xfId" in known.attrib:
            made.set("xfId", "0")
        return str(self._stylesheet.put(CELL_FORMATS, made))


def _plain(entry: Element) -> Element:
    copy = deepcopy(entry)
    copy.tail = None
    return copy
