"""`write_page`: new content, as blocks of a section or as a slide."""

from typing import ClassVar

from officeplane.edits.contract import Edit, NodeId, Occasion, Position, Result, Words
from officeplane.formats.markdown import blocks
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word


class WritePage(Edit):
    """Content at the end of a section or of the document, or before what is at `position` in it."""

    task_type: ClassVar = "write_page"
    title_for_people: ClassVar = "Write a page"

    content: Words
    section_id: NodeId | None = None
    position: Position | None = None

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        made = document.write_page(blocks(self.content), self.section_id, self.position, occasion.fresh_id("page"))
        return {"id": made}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:  # noqa: ARG002 - slides have ids
        return {"id": presentation.write_page(blocks(self.content), self.section_id, self.position)}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [] if self.section_id is None else [self.section_id]
