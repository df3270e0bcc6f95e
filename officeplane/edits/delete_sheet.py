"""`delete_sheet`: a sheet is removed; what refers to it shows an error, as in Excel."""

from typing import ClassVar

from pydantic import Field

from officeplane.domain.warning import EditWarning
from officeplane.edits.contract import Edit, Line, Occasion, Result
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document


class DeleteSheet(Edit):
    """A sheet less; the last one stays."""

    task_type: ClassVar = "delete_sheet"
    title_for_people: ClassVar = "Delete a sheet"

    sheet: Line = Field(description="The sheet, by its name or its id in the outline.")

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        sheet_id, lost = workbook.delete_sheet(self.sheet)
        occasion.warn(EditWarning("reference_lost", f"{place} referred to it and says #REF! now") for place in lost)
        return {"id": sheet_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [f"{self.sheet}!"]
