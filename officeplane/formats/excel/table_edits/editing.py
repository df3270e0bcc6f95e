"""Editing: what is asked for of a table of a sheet, done in one go."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning
from officeplane.formats.excel.cells.writer import SheetWriter
from officeplane.formats.excel.parts import Parts
from officeplane.formats.excel.table_edits.columns import delete_columns, insert_columns
from officeplane.formats.excel.table_edits.dress import set_header, set_style
from officeplane.formats.excel.table_edits.found import find_table
from officeplane.formats.excel.table_edits.rows import delete_rows, insert_rows
from officeplane.formats.table_change import TableChange, in_order

_NUMBER: Final = re.compile(r"\s*[-+]?(?:\d[\d.,']*|[.,]\d+)\s*%?\s*")


@dataclass(frozen=True, slots=True)
class EditedTable:
    """How large a table is now, and what to warn of."""

    rows: int
    columns: int
    warnings: list[EditWarning]


def edit_table(parts: Parts, table_id: str, change: TableChange) -> EditedTable:
    """Change a table of a sheet."""
    found = find_table(parts, table_id)
    before = found.area, found.table.has_header
    if change.merge or change.split:
        raise InvalidEditError("tables of Excel have no merged cells: leave out merge and split")
    gone = change.delete_columns
    if gone is not None and gone.count == found.columns:
        raise InvalidEditError("nothing of the table would be left: edit_grid deletes whole columns")
    if change.delete_rows is None or change.delete_rows.at > 1:
        change.check(found.rows, found.columns)
    if change.cells:
        writer = SheetWriter(parts, found.sheet, {found.at(cell) for cell in change.cells})
        for cell, text in change.cells.items():
            writer.set(found.at(cell), text or None)
        writer.finish()
    warnings: list[EditWarning] = [*_about_numbers(table_id, change)]
    for is_new, lines in in_order(change.insert_rows, change.delete_rows):
        warnings += (insert_rows if is_new else delete_rows)(parts, table_id, lines)
    for is_new, lines in in_order(change.insert_columns, change.delete_columns):
        warnings += (insert_columns if is_new else delete_columns)(parts, table_id, lines)
    if change.style is not None:
        set_style(parts, find_table(parts, table_id), change.style)
    if change.header_row is not None:
        set_header(parts, table_id, is_header=change.header_row)
    after = find_table(parts, table_id)
    if (after.area, after.table.has_header) != before:
        # Formulas that name the table read other cells now.
        for area in (before[0], after.area):
            parts.changes.area(after.sheet.part, area)
    return EditedTable(after.rows, after.columns, warnings)


def _about_numbers(table_id: str, change: TableChange) -> Iterator[EditWarning]:
    """Yield a warning if texts were perhaps meant as numbers or formulas."""
    texts = [*change.cells.values()]
    for lines in (change.insert_rows, change.insert_columns):
        texts += [] if lines is None else [text for line in lines.texts for text in line]
    found = [text for text in texts if _NUMBER.fullmatch(text) or (text.startswith("=") and len(text) > 1)]
    if found:
        yield EditWarning(
            "not_a_number",
            f"{len(found)} cells hold texts that read as numbers or formulas, such as {found[0]!r}; set_cells gives "
            "cells numbers, dates and formulas",
            table_id,
        )
