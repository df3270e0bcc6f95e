"""`insert_table`: a table at the end of a section, or on a slide of its own."""

from typing import Annotated, ClassVar

from pydantic import Field

from officeplane.edits.contract import Edit, Line, NodeId, Occasion, Result, Words
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word

Row = Annotated[list[Words | int | float], Field(max_length=500)]


class InsertTable(Edit):
    """A table with a header row, if one is given."""

    task_type: ClassVar = "insert_table"
    title_for_people: ClassVar = "Insert a table"

    rows: Annotated[list[Row], Field(min_length=1, max_length=10_000)] = Field(
        description="Rows of cells, plain text or numbers."
    )
    header: Row | None = Field(
        default=None, description="A first row that stands out and is repeated on every paper; left out, there is none."
    )
    section_id: NodeId | None = Field(
        default=None,
        description=(
            "The section, chapter or section header slide at whose end it is put, by its id in the outline; left out, "
            "the end of the document."
        ),
    )
    style: Line | None = Field(
        default=None, description="A table style of the document, by its name; left out, its usual one."
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        made = document.insert_table(self._texts, self._header, self.section_id, self.style, occasion.fresh_id("table"))
        return {"id": made}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        made = presentation.insert_table(self._texts, self._header, self.section_id, self.style)
        occasion.warn(presentation.overflows([made]))
        return {"id": made}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [] if self.section_id is None else [self.section_id]

    @property
    def _texts(self) -> list[list[str]]:
        return [[str(cell) for cell in row] for row in self.rows]

    @property
    def _header(self) -> list[str] | None:
        return None if self.header is None else [str(cell) for cell in self.header]
