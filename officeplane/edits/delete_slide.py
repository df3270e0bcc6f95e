"""`delete_slide`: a slide is removed, with its notes."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import Edit, NodeId, Occasion, Result
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation


class DeleteSlide(Edit):
    """A slide less."""

    task_type: ClassVar = "delete_slide"
    title_for_people: ClassVar = "Delete a slide"

    slide_id: NodeId = Field(description="The slide, by its id in the outline.")

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        # To name a slide in order to delete it is consent to what goes with it.
        occasion.give_up(presentation.delete_slide(self.slide_id), discard=True)
        return {"id": self.slide_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.slide_id]
