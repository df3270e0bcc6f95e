"""`edit_table`: cells, rows and columns of a table."""

from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import Discard, Line, NodeId, Occasion, Part, Result, Words
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.excel.cells.addresses import address, area, column_number
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.nodes import slide_id_of
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.table_change import Lines, TableChange
from officeplane.formats.word.document import Word
from officeplane.formats.word.table_edits.editing import edit_table

CellName = Annotated[str, Field(pattern=r"^[A-Z]{1,2}[1-9][0-9]{0,4}$")]
CellRange = Annotated[str, Field(pattern=r"^[A-Z]{1,2}[1-9][0-9]{0,4}:[A-Z]{1,2}[1-9][0-9]{0,4}$")]
_Column = Annotated[str, Field(pattern=r"^[A-Z]{1,2}$")]
_Count = Annotated[int, Field(ge=1, le=1_000)]
_Texts = Annotated[list[Annotated[list[Words], Field(max_length=100)]], Field(max_length=1_000)]


class TableRows(Part):
    """Rows of a table that come or go."""

    at: Annotated[int, Field(ge=1, le=100_000)] = Field(
        description="The first of them, counted from 1. New rows come before this row; one more than the last is the "
        "end."
    )
    count: _Count = Field(default=1, description="How many.")


class NewTableRows(TableRows):
    """Rows that come into a table."""

    texts: _Texts = Field(
        default=[],
        description="What their cells say, row by row; left out, they are empty. For more texts than `count` there are "
        "more rows.",
    )


class TableColumns(Part):
    """Columns of a table that come or go."""

    at: _Column = Field(
        description="The first of them, by its letter. New columns come before this one; the letter after the last is "
        "the end."
    )
    count: _Count = Field(default=1, description="How many.")


class NewTableColumns(TableColumns):
    """Columns that come into a table."""

    texts: _Texts = Field(
        default=[],
        description="What their cells say, column by column from the top; left out, they are empty. For more texts "
        "than `count` there are more columns.",
    )


class EditTable(TrackedEdit):
    """A table is changed in place; what is not named stays as it is, formatting and widths too.

    Cells are named as on a sheet: `B3` is the second cell of the third row, the header counted. All names are those of
    the table as it was read, whatever else the same edit inserts or deletes. In a workbook, too, `A1` is the first cell
    of the table, wherever that is on its sheet.
    """

    task_type: ClassVar = "edit_table"
    title_for_people: ClassVar = "Edit a table"
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "tableId": "t-1a2b3c4d",
                    "cells": {"B2": "1,200"},
                    "insertRows": {"at": 4, "texts": [["Total", "3,600"]]},
                }
            ]
        }
    )

    table_id: NodeId = Field(
        description="The table, by its id in the outline or in a node; in a workbook such as `table-1`."
    )
    cells: Annotated[dict[CellName, Words], Field(min_length=1, max_length=10_000)] | None = Field(
        default=None,
        description="What cells say from now on, in plain text; a line break stays one. Empty empties it. In a "
        "workbook they are texts, also `1,200`: set_cells gives cells numbers, dates and formulas.",
    )
    insert_rows: NewTableRows | None = Field(
        default=None, description="New rows, formatted as the row that they push down."
    )
    delete_rows: TableRows | None = Field(default=None, description="Rows to take out, with all they say.")
    insert_columns: NewTableColumns | None = Field(
        default=None, description="New columns, formatted as their neighbours; the table stays as wide as it is."
    )
    delete_columns: TableColumns | None = Field(default=None, description="Columns to take out, with all they say.")
    merge: Annotated[list[CellRange], Field(min_length=1, max_length=1_000)] | None = Field(
        default=None,
        description="Ranges of cells, such as `A1:B2`, each of which becomes one cell that says what all said; not in "
        "workbooks.",
    )
    split: Annotated[list[CellName], Field(min_length=1, max_length=1_000)] | None = Field(
        default=None, description="Merged cells that are taken apart again, by the first cell of each."
    )
    style: Line | None = Field(
        default=None,
        description="A table style of the document, by its name; on slides and sheets also one of the program's own, "
        "such as `Medium Style 2 - Accent 1` and `TableStyleMedium2`.",
    )
    header_row: bool | None = Field(
        default=None,
        description="Whether the first row is a header, which stands out and is repeated on every paper. In a "
        "workbook whether the table shows the names of its columns in a row.",
    )
    discard: Discard = False

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set - {"table_id", "discard", *TrackedEdit.model_fields}:
            message = (
                "say what to change: cells, insertRows, deleteRows, insertColumns, deleteColumns, merge, split, style "
                "or headerRow"
            )
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        edited = edit_table(document.finder(), self.table_id, self._wanted, occasion.task_id)
        occasion.give_up(edited.replaced, discard=self.discard)
        occasion.give_up(edited.deleted, discard=True)
        return {"id": edited.id, "rows": edited.rows, "columns": edited.columns}

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        edited = workbook.edit_table(self.table_id, self._wanted)
        occasion.warn(edited.warnings)
        return {"id": self.table_id, "rows": edited.rows, "columns": edited.columns}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        slides = [slide_id_of(self.table_id)]
        before = presentation.overflows(slides)
        edited = presentation.edit_table(self.table_id, self._wanted)
        occasion.give_up(edited.replaced, discard=self.discard)
        occasion.give_up(edited.deleted, discard=True)
        occasion.warn(presentation.overflows(slides), but=before)
        return {"id": self.table_id, "rows": edited.rows, "columns": edited.columns}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.table_id]

    @property
    def _wanted(self) -> TableChange:
        found = {name: address(name) for name in (*(self.cells or ()), *(self.split or ()))}
        areas = [area(name) for name in self.merge or ()]
        return TableChange(
            cells={cell: text for name, text in (self.cells or {}).items() if (cell := found[name]) is not None},
            split=[cell for name in self.split or () if (cell := found[name]) is not None],
            merge=[one for one in areas if one is not None],
            insert_rows=None if self.insert_rows is None else _new(self.insert_rows.at, self.insert_rows),
            delete_rows=None if self.delete_rows is None else Lines(self.delete_rows.at, self.delete_rows.count),
            insert_columns=None
            if self.insert_columns is None
            else _new(column_number(self.insert_columns.at), self.insert_columns),
            delete_columns=None
            if self.delete_columns is None
            else Lines(column_number(self.delete_columns.at), self.delete_columns.count),
            style=self.style,
            header_row=self.header_row,
        )


def _new(at: int, lines: NewTableRows | NewTableColumns) -> Lines:
    return Lines(at, max(lines.count, len(lines.texts)), lines.texts)
