"""Adding a sheet, with content if there is any."""

import re
from typing import Final

from lxml import etree

from officeplane.domain.document import InvalidEditError
from officeplane.formats.blocks import Block, Line
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, Address
from officeplane.formats.excel.cells.texts import new_text
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.numbers import whole
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.sheets.content import rows_of, text_of
from officeplane.formats.excel.sheets.deleted_numbers import last_sheet_number
from officeplane.formats.excel.sheets.indexes import make_room
from officeplane.formats.excel.sheets.names import check_sheet_name
from officeplane.formats.excel.sheets.sheet_list import Sheet
from officeplane.formats.excel.tags import INLINE, MAIN, RELATION, RUN, main
from officeplane.formats.relationships import Relationships, declare
from officeplane.formats.xml import Element

_CONTENT_TYPE: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
_NUMBER_MAX: Final = 65_534
_COLOR: Final = re.compile(r"[0-9A-Fa-f]{8}")
_BLACK: Final = "FF000000"
_EMPTY: Final = (
    f'<worksheet xmlns="{MAIN}"><dimension ref="A1"/><sheetViews><sheetView workbookViewId="0"/></sheetViews>'
    '<sheetFormatPr defaultRowHeight="15"/><sheetData/>'
    '<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/></worksheet>'
).encode()


def add_sheet(parts: Parts, name: str, position: int | None, blocks: list[Block]) -> str:
    """Add a sheet before the one at `position`, or at the end; return its node id."""
    package, sheets = parts.package, parts.sheets
    check_sheet_name(name, sheets.names)
    taken = {part.lower() for part in package.names}
    number = 1
    while f"xl/worksheets/sheet{number}.xml" in taken:
        number += 1
    part = f"xl/worksheets/sheet{number}.xml"
    package.put(part, _EMPTY)
    declare(package, part, _CONTENT_TYPE)
    relation = Relationships(package, parts.workbook).add("worksheet", part)
    at = len(sheets.all) if position is None else min(position, len(sheets.all))
    element = etree.Element(main("sheet"))
    element.set("name", name)
    element.set("sheetId", str(next_sheet_number(parts)))
    element.set(RELATION, relation)
    if at < len(sheets.all):
        sheets.all[at].element.addprevious(element)
    else:
        sheets.element.append(element)
    make_room(package.tree(parts.workbook), at)
    package.changed(parts.workbook)
    parts.changes.has_moved = True
    made = Sheet(element, part, "worksheet")
    _write(parts, made, blocks)
    return made.id


def next_sheet_number(parts: Parts) -> int:
    """Return a number that no sheet has or, as long as there are others, had."""
    taken = {whole(sheet.number, 0) for sheet in parts.sheets.all}
    number = max(last_sheet_number(parts.package.tree(parts.workbook)), *taken, 0) + 1
    return number if number <= _NUMBER_MAX else next(free for free in range(1, _NUMBER_MAX + 1) if free not in taken)


def _write(parts: Parts, sheet: Sheet, blocks: list[Block]) -> None:
    writer = SheetWriter(parts, sheet)
    font = parts.styles.first_font()
    grid = parts.grid(sheet)
    for row, cells in enumerate(rows_of(blocks), 1):
        if row > ROWS_MAX or len(cells) > COLUMNS_MAX:
            raise InvalidEditError(
                f"the content does not fit into a sheet of {ROWS_MAX} rows and {COLUMNS_MAX} columns"
            )
        for column, line in enumerate(cells, 1):
            text = text_of(line)
            if not text:
                continue
            at = Address(row, column)
            writer.set(at, text)
            cell = grid.cell(at) if any(span.bold or span.italic or span.strike for span in line) else None
            item = None if cell is None else cell.find(INLINE)
            if item is not None:
                _format(item, line, font)
    if blocks:
        writer.finish()


def _is_a_color(text: str) -> bool:
    return bool(_COLOR.fullmatch(text))


def _format(item: Element, line: Line, font: list[Element]) -> None:
    """Cut a text into runs, as its spans are formatted."""
    for child in list(item):
        item.remove(child)
    for span in line:
        text = text_of((span,))
        if not text:
            continue
        run = etree.SubElement(item, RUN)
        if span.bold or span.italic or span.strike:
            properties = etree.SubElement(run, main("rPr"))
            for name, given in (("b", span.bold), ("i", span.italic), ("strike", span.strike)):
                if given:
                    etree.SubElement(properties, main(name))
            for each in font:
                if each.tag in {main("sz"), main("color"), main("family")} and _is_a_color(each.get("rgb", _BLACK)):
                    etree.SubElement(properties, each.tag, dict(each.attrib))
                elif each.tag == main("name"):
                    etree.SubElement(properties, main("rFont"), dict(each.attrib))
        new_text(run, text)
