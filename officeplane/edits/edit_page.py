"""`edit_page`: a page's content is replaced."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import BASE64_MAX, CONTENT, Content, Discard, NodeId, Occasion, Result
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.markdown import SLIDES, TEXTS
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word


class EditPage(TrackedEdit):
    """Other content for a page; its id stays."""

    task_type: ClassVar = "edit_page"
    title_for_people: ClassVar = "Edit a page"
    payload_bytes_max: ClassVar = BASE64_MAX

    page_id: NodeId = Field(description="The page or slide, by its id in the outline.")
    content: Content = Field(description=f"What it says from now on; empty empties it. {CONTENT}")
    discard: Discard = False

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        brought = document.brought(occasion.picture_number)
        losses = document.edit_page(self.page_id, occasion.blocks(self.content, TEXTS), brought)
        occasion.give_up(losses, discard=self.discard)
        occasion.warn(brought.warnings)
        return {"id": self.page_id}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        before = presentation.overflows([self.page_id])
        losses = presentation.edit_page(self.page_id, occasion.blocks(self.content, SLIDES))
        occasion.give_up(losses, discard=self.discard)
        occasion.warn(presentation.overflows([self.page_id]), but=before)
        return {"id": self.page_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.page_id]
