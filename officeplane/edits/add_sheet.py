"""`add_sheet`: an empty sheet."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import Edit, Line, Occasion, Position, Result
from officeplane.formats.excel.workbook import Workbook


class AddSheet(Edit):
    """A sheet at the end or at `position`."""

    task_type: ClassVar = "add_sheet"
    title_for_people: ClassVar = "Add a sheet"

    name: Line = Field(description="The sheet's name.")
    position: Position | None = Field(
        default=None,
        description="Which sheet it comes before, counting from 0; left out, or beyond the last, means the end.",
    )

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:  # noqa: ARG002 - sheets have ids
        return {"id": workbook.add_sheet(self.name, self.position, [])}
