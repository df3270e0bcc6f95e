"""`append_rows`: rows below the last one that holds anything."""

from typing import Annotated, ClassVar

from pydantic import Field

from officeplane.edits.contract import Edit, Line, Occasion, Result
from officeplane.edits.set_cells import CellValue, native, warned_of
from officeplane.formats.excel.cells.addresses import letters
from officeplane.formats.excel.workbook import Workbook

Row = Annotated[list[CellValue], Field(max_length=16_384)]


class AppendRows(Edit):
    """Rows of values and formulas, from the first column on."""

    task_type: ClassVar = "append_rows"
    title_for_people: ClassVar = "Append rows"

    sheet: Line = Field(description="The sheet, by its name or its id in the outline.")
    rows: Annotated[list[Row], Field(min_length=1, max_length=100_000)] = Field(
        description=(
            'Rows of cells, each from column A on. Text stays text; a formula is `{"formula": "=A1*2"}`; null leaves '
            "a cell empty."
        )
    )

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        sheet_id, first_row = workbook.append_rows(self.sheet, [[native(value) for value in row] for row in self.rows])
        occasion.warn(
            warned_of(
                (f"{letters(column)}{number}", value)
                for number, row in enumerate(self.rows, first_row)
                for column, value in enumerate(row, 1)
            )
        )
        return {"id": sheet_id, "firstRow": first_row, "lastRow": first_row + len(self.rows) - 1}
