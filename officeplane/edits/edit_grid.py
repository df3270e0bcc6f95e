"""`edit_grid`: rows or columns of a sheet come or go, and every reference follows."""

from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import Edit, Line, Occasion, Part, Result
from officeplane.formats.excel.cells.addresses import COLUMNS_MAX, ROWS_MAX, column_number
from officeplane.formats.excel.shifting.shift import Axis, Shift
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document


class Rows(Part):
    """Rows next to each other."""

    at: Annotated[int, Field(ge=1, le=ROWS_MAX)] = Field(
        description="The row, as Excel numbers it: new ones come before it, and it is the first to be deleted."
    )
    count: Annotated[int, Field(ge=1, le=ROWS_MAX)] = Field(default=1, description="How many rows; 1 if not said.")


class Columns(Part):
    """Columns next to each other."""

    at: Annotated[str, Field(pattern=r"^[A-Z]{1,3}$")] = Field(
        description='The column, by letters such as "C": new ones come before it, and it is the first to be deleted.'
    )
    count: Annotated[int, Field(ge=1, le=COLUMNS_MAX)] = Field(
        default=1, description="How many columns; 1 if not said."
    )


class EditGrid(Edit):
    """Rows or columns more or less; formulas, names, tables, charts and all else that refers to cells follows."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"sheet": "Budget", "insertRows": {"at": 5, "count": 2}}]}
    )

    task_type: ClassVar = "edit_grid"
    title_for_people: ClassVar = "Insert or delete rows or columns"

    sheet: Line = Field(description="The sheet, by its name or its id in the outline.")
    insert_rows: Rows | None = Field(
        default=None,
        description="New empty rows before a row, formatted like the row above them. Give exactly one of the four.",
    )
    delete_rows: Rows | None = Field(
        default=None, description="Rows to delete with all that is in them. Give exactly one of the four."
    )
    insert_columns: Columns | None = Field(
        default=None,
        description="New empty columns before a column, formatted like the one to their left; inside of a table they "
        "get headings such as Column1. Give exactly one of the four.",
    )
    delete_columns: Columns | None = Field(
        default=None, description="Columns to delete with all that is in them. Give exactly one of the four."
    )

    @model_validator(mode="after")
    def _one_change(self) -> Self:
        if sum(each is not None for each in self._changes()) != 1:
            message = "give exactly one of insertRows, deleteRows, insertColumns and deleteColumns"
            raise ValueError(message)
        return self

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        sheet_id, shifted, warnings = workbook.edit_grid(self.sheet, self._shift())
        occasion.warn(warnings)
        return {"id": sheet_id, "shifted": shifted}

    def targets(self, document: Document) -> list[str]:
        sheet_id = document.sheet_id(self.sheet) if isinstance(document, Workbook) else None
        # By its name where it is not there, so that a sheet which is gone or called otherwise is a conflict.
        return [f"{self.sheet}!" if sheet_id is None else sheet_id]

    def _changes(self) -> tuple[Rows | Columns | None, ...]:
        return self.insert_rows, self.delete_rows, self.insert_columns, self.delete_columns

    def _shift(self) -> Shift:
        change = next(each for each in self._changes() if each is not None)
        inserts = change is self.insert_rows or change is self.insert_columns
        if isinstance(change, Rows):
            return Shift(Axis.ROWS, change.at, change.count, inserts)
        return Shift(Axis.COLUMNS, column_number(change.at), change.count, inserts)
