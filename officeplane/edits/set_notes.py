"""`set_notes`: what the speaker of a slide reads."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import Discard, Edit, NodeId, Occasion, Result, Words
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation


class SetNotes(Edit):
    """Notes for a slide, in place of those it has."""

    task_type: ClassVar = "set_notes"
    title_for_people: ClassVar = "Set speaker notes"

    slide_id: NodeId = Field(description="The slide, by its id in the outline.")
    notes: Words = Field(
        description="What the speaker reads, in plain text, in place of what was there; empty removes it."
    )
    discard: Discard = False

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        occasion.give_up(presentation.set_notes(self.slide_id, self.notes), discard=self.discard)
        return {"id": self.slide_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.slide_id]
