"""`edit_slide`: another title or body for a slide."""

from typing import ClassVar, Self

from pydantic import Field, model_validator

from officeplane.edits.contract import CONTENT, Discard, Edit, Line, NodeId, Occasion, Result, Words
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation


class EditSlide(Edit):
    """What is not given stays as it is."""

    task_type: ClassVar = "edit_slide"
    title_for_people: ClassVar = "Edit a slide"

    slide_id: NodeId = Field(description="The slide, by its id in the outline.")
    title: Line | None = Field(default=None, description="Another title, one line of plain text; left out, it stays.")
    body: Words | None = Field(default=None, description=f"Another body; left out, it stays. {CONTENT}")
    discard: Discard = False

    @model_validator(mode="after")
    def _something(self) -> Self:
        if self.title is None and self.body is None:
            message = "give a title or a body"
            raise ValueError(message)
        return self

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        body = None if self.body is None else occasion.blocks(self.body)
        before = presentation.overflows([self.slide_id])
        occasion.give_up(presentation.edit_slide(self.slide_id, self.title, body), discard=self.discard)
        occasion.warn(presentation.overflows([self.slide_id]), but=before)
        return {"id": self.slide_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.slide_id]
