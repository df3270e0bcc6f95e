"""`append_rows`: rows below the last one that holds anything."""

from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from officeplane.edits.cell_values import FORMS, CellValue, native, warned_of
from officeplane.edits.contract import Edit, Line, Occasion, Result
from officeplane.formats.excel.cells.addresses import letters
from officeplane.formats.excel.workbook import Workbook

Row = Annotated[list[CellValue], Field(max_length=16_384)]


class AppendRows(Edit):
    """Rows of values and formulas, from the first column on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"sheet": "Log", "rows": [["Rent", {"date": "2026-01-05"}, 1250.5, True], ["Heating"]]}]
        }
    )

    task_type: ClassVar = "append_rows"
    title_for_people: ClassVar = "Append rows"

    sheet: Line = Field(description="The sheet, by its name or its id in the outline.")
    rows: Annotated[list[Row], Field(min_length=1, max_length=100_000)] = Field(
        description=f"Rows of cells, each from column A on. {FORMS}"
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
