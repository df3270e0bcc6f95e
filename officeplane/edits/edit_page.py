"""`edit_page`: a page's content is replaced."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import CONTENT, Discard, NodeId, Occasion, Result, Words
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word


class EditPage(TrackedEdit):
    """Other content for a page; its id stays."""

    task_type: ClassVar = "edit_page"
    title_for_people: ClassVar = "Edit a page"

    page_id: NodeId = Field(description="The page or slide, by its id in the outline.")
    content: Words = Field(description=f"What it says from now on; empty empties it. {CONTENT}")
    discard: Discard = False

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        losses = document.edit_page(self.page_id, occasion.blocks(self.content))
        occasion.give_up(losses, discard=self.discard)
        return {"id": self.page_id}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        before = presentation.overflows([self.page_id])
        losses = presentation.edit_page(self.page_id, occasion.blocks(self.content))
        occasion.give_up(losses, discard=self.discard)
        occasion.warn(presentation.overflows([self.page_id]), but=before)
        return {"id": self.page_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.page_id]
