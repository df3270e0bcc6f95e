"""`write_page`: new content, as blocks of a section or as a slide."""

from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from officeplane.edits.contract import BASE64_MAX, CONTENT, Content, Edit, NodeId, Occasion, Position, Result
from officeplane.formats.markdown import SLIDES, TEXTS
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word


class WritePage(Edit):
    """Content at the end of a section or of the document, or before what is at `position` in it."""

    task_type: ClassVar = "write_page"
    title_for_people: ClassVar = "Write a page"
    payload_bytes_max: ClassVar = BASE64_MAX

    content: Annotated[Content, Field(min_length=1)] = Field(description=CONTENT)
    section_id: NodeId | None = Field(
        default=None,
        description=(
            "The section, chapter or section header slide that it is written in, by its id in the outline; left out, "
            "the document itself."
        ),
    )
    position: Position | None = Field(
        default=None,
        description=(
            "Which node of the section, or of the document, it comes before, counting from 0; left out, or beyond the "
            "last, means the end."
        ),
    )

    @field_validator("content")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            message = "it is blank: give what the page says"
            raise ValueError(message)
        return value

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        brought = document.brought(occasion.picture_number)
        made = document.write_page(
            occasion.blocks(self.content, TEXTS), self.section_id, self.position, occasion.fresh_id("page"), brought
        )
        occasion.warn(brought.warnings)
        return {"id": made}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        made = presentation.write_page(occasion.blocks(self.content, SLIDES), self.section_id, self.position)
        occasion.warn(presentation.overflows([made]))
        return {"id": made}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [] if self.section_id is None else [self.section_id]
