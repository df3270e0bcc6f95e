"""`rename_sheet`: a sheet gets another name, also where formulas name it."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import Edit, Line, Occasion, Result
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document


class RenameSheet(Edit):
    """Another name for a sheet."""

    task_type: ClassVar = "rename_sheet"
    title_for_people: ClassVar = "Rename a sheet"

    sheet: Line = Field(description="The sheet, by its name or its id in the outline.")
    name: Line = Field(description="The name that it gets.")

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:  # noqa: ARG002
        return {"id": workbook.rename_sheet(self.sheet, self.name)}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [f"{self.sheet}!"]
