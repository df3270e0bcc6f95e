"""`add_chapter`: a new chapter of a text, or a new section of a presentation."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import Edit, Line, Occasion, Position, Result
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word


class AddChapter(Edit):
    """A chapter with a title, at the end or before the chapter at `position`."""

    task_type: ClassVar = "add_chapter"
    title_for_people: ClassVar = "Add a chapter"

    title: Line = Field(description="The chapter's heading, one line of plain text.")
    position: Position | None = Field(
        default=None,
        description="Which chapter it comes before, counting from 0; left out, or beyond the last, means the end.",
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        return {"id": document.add_chapter(self.title, self.position, occasion.fresh_id("chapter"))}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        return {"id": presentation.add_chapter(self.title, self.position, occasion.fresh_id("chapter"))}
