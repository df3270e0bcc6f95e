"""`copy_sheet`: a sheet once more, with everything on it."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from officeplane.edits.contract import Edit, Line, Occasion, Position, Result
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document


class CopySheet(Edit):
    """A copy of a sheet: cells, formats, formulas, merged cells, rules, tables, charts, pictures and comments."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"sheet": "January", "name": "February", "position": 1}]})

    task_type: ClassVar = "copy_sheet"
    title_for_people: ClassVar = "Copy a sheet"

    sheet: Line = Field(description="The sheet to copy, by its name or its id in the outline.")
    name: Line = Field(
        description="The name of the copy. Formulas of the copy that name the sheet itself name the copy; its tables "
        "get names of their own, which the result tells."
    )
    position: Position | None = Field(
        default=None,
        description="Which sheet it comes before, counting from 0; left out, it comes right behind the original.",
    )

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:  # noqa: ARG002 - sheets have ids
        copied = workbook.copy_sheet(self.sheet, self.name, self.position)
        return {"id": copied.id, **({"tables": copied.tables} if copied.tables else {})}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [f"{self.sheet}!"]
