"""`delete_page`: a page is removed."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import NodeId, Occasion, Result
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word


class DeletePage(TrackedEdit):
    """A page, or a slide, less."""

    task_type: ClassVar = "delete_page"
    title_for_people: ClassVar = "Delete a page"

    page_id: NodeId = Field(description="The page or slide, by its id in the outline.")

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        # To name a page in order to delete it is consent to what goes with it.
        occasion.give_up(document.delete_page(self.page_id), discard=True)
        return {"id": self.page_id}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        occasion.give_up(presentation.delete_slide(self.page_id), discard=True)
        return {"id": self.page_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.page_id]
