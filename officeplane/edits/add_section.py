"""`add_section`: a section of a chapter, a section header slide, or a sheet."""

from typing import ClassVar

from pydantic import Field

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import BASE64_MAX, CONTENT, Content, Edit, Line, NodeId, Occasion, Position, Result
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.markdown import SLIDES, TEXTS, WORDS
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word


class AddSection(Edit):
    """A section with a title and perhaps content, in a chapter or at the end of the document."""

    task_type: ClassVar = "add_section"
    title_for_people: ClassVar = "Add a section"
    payload_bytes_max: ClassVar = BASE64_MAX

    title: Line = Field(description="The section's heading or the sheet's name, one line of plain text.")
    chapter_id: NodeId | None = Field(
        default=None,
        description=(
            "The chapter that it belongs to, by its id in the outline; left out, the last one. A workbook has none."
        ),
    )
    content: Content | None = Field(default=None, description=CONTENT)
    position: Position | None = Field(
        default=None,
        description=(
            "Which section of the chapter, or which sheet, it comes before, counting from 0; left out, or beyond the "
            "last, means the end."
        ),
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        brought = document.brought(occasion.picture_number)
        made = document.add_section(
            self.title, self.chapter_id, occasion.blocks(self.content, TEXTS), self.position,
            occasion.fresh_id("section"), brought,
        )  # fmt: skip
        occasion.warn(brought.warnings)
        return {"id": made}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        blocks = occasion.blocks(self.content, SLIDES)
        made = presentation.add_section(self.title, self.chapter_id, blocks, self.position)
        occasion.warn(presentation.overflows([made]))
        return {"id": made}

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        if self.chapter_id is not None:
            raise InvalidEditError("a workbook has no chapters: leave chapterId out")
        return {"id": workbook.add_sheet(self.title, self.position, occasion.blocks(self.content, WORDS))}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [] if self.chapter_id is None else [self.chapter_id]
