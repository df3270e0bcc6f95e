"""`define_name`: what formulas call cells or values."""

from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from officeplane.domain.document import InvalidEditError
from officeplane.domain.warning import EditWarning
from officeplane.edits.contract import Edit, Line, Occasion, Result, Words
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document


class DefineName(Edit):
    """A name for cells or a value, a new one or another meaning for one that is known."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "Amounts", "refersTo": "=Plan!$B$2:$B$40", "comment": "What was paid"}]
        }
    )

    task_type: ClassVar = "define_name"
    title_for_people: ClassVar = "Define a name"

    name: Line = Field(description="The name: letters, digits, `.` and `_`, no spaces, not like a cell such as `Q1`.")
    refers_to: Annotated[Words, Field(min_length=1, max_length=8_192)] | None = Field(
        description="What it stands for: cells with their sheet and `$`, such as `=Plan!$B$2:$B$40`, a value such as "
        "`=0.19`, or a formula; null deletes the name."
    )
    sheet: Line | None = Field(
        default=None,
        description="The sheet on which alone it is known, by its name or id; left out, it is known on all.",
    )
    comment: Annotated[Line, Field(max_length=255)] | None = Field(
        default=None, description="What people are told of it; left out, what is there stays."
    )

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        if self.refers_to is not None:
            return {"id": workbook.define_name(self.name, self.refers_to, self.sheet, self.comment)}
        if self.comment is not None:
            raise InvalidEditError("a name that is deleted has no comment: leave it out, or give refersTo")
        lost = workbook.delete_name(self.name, self.sheet)
        occasion.warn(
            EditWarning("reference_lost", f"{place} used the name {self.name} and says #NAME? now") for place in lost
        )
        return {"id": f"name-{self.name}"}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [f"name-{self.name}"]
