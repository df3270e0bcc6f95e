"""`move_slide`: a slide goes to another place."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import Edit, NodeId, Occasion, Position, Result
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation


class MoveSlide(Edit):
    """The place counts from 0, among all slides without this one."""

    task_type: ClassVar = "move_slide"
    title_for_people: ClassVar = "Move a slide"

    slide_id: NodeId = Field(description="The slide, by its id in the outline.")
    position: Position = Field(
        description="Where it stands afterwards, counting from 0 without this slide; beyond the last means the end."
    )

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:  # noqa: ARG002
        presentation.move_slide(self.slide_id, self.position)
        return {"id": self.slide_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.slide_id]
