"""`insert_content`: content beside what is there, or at the end of a node."""

from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

from officeplane.edits.contract import (
    BASE64_MAX,
    CONTENT_OF_NODES,
    IDS_TOLD,
    Content,
    Line,
    NodeId,
    Occasion,
    Result,
    the_one_place,
)
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.markdown import SLIDES, TEXTS, WORDS
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.node_editing import Place
from officeplane.formats.powerpoint.nodes import slide_id_of
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from officeplane.formats.word.nodes.inserting import Inserting


class InsertContent(TrackedEdit):
    """One of `before`, `after` and `into` says where; the result has the id of what was made, or of what goes on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"content": "Notice is given in writing.", "after": "p-1a2b3c4d"},
                {"content": "- Services grew **most**", "into": "slide-256.3"},
            ]
        }
    )

    task_type: ClassVar = "insert_content"
    title_for_people: ClassVar = "Insert content"
    payload_bytes_max: ClassVar = BASE64_MAX

    content: Annotated[Content, Field(min_length=1)] = Field(
        description=f"What is inserted. An item next to an item of a list belongs to that list. {CONTENT_OF_NODES}"
    )
    before: NodeId | None = Field(
        default=None,
        description="The node right before which it stands. In a presentation: a slide; the content is a slide of its "
        "own, its first heading the title.",
    )
    after: NodeId | None = Field(
        default=None,
        description="The node right after which it stands, as with before; after a heading is directly below it.",
    )
    into: NodeId | None = Field(
        default=None,
        description="The node at whose end it stands. In a text: a chapter, a section, a page, a cell, a header, a "
        "note or a text box. In a presentation: a shape with a text, a cell or notes, which go on with it; a slide, on "
        "which it becomes a text box, and tables, where there is room; a chapter, which gets a slide.",
    )
    style: Line | None = Field(
        default=None,
        description="A style by its name. In a text: that of paragraphs that are no headings. In a presentation: that "
        "of the tables in the content; left out, the usual one.",
    )

    @field_validator("content")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            message = "it is blank: give what is to be inserted"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        the_one_place(self.before, self.after, self.into)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        side, beside = the_one_place(self.before, self.after, self.into)
        inserting = Inserting(document.finder(), occasion.fresh_id, occasion.picture_number)
        made = inserting.insert(occasion.blocks(self.content, TEXTS), beside, side, self.style)
        occasion.warn(inserting.warnings)
        document.name(occasion.task_id)
        ids = made.ids()
        occasion.given += ids
        return {"id": ids[0], "ids": ids[:IDS_TOLD]}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        place = Place(*the_one_place(self.before, self.after, self.into))
        before = presentation.overflows([slide_id_of(place.node_id)])
        holds = SLIDES if presentation.takes_pictures(place.node_id) else WORDS
        made, warnings = presentation.insert_content(occasion.blocks(self.content, holds), place, self.style)
        occasion.warn(warnings)
        occasion.warn(presentation.overflows([slide_id_of(made)]), but=before)
        return {"id": made}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [the_one_place(self.before, self.after, self.into)[1]]
