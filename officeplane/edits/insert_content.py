"""`insert_content`: new paragraphs, items and tables beside a node or at its end."""

from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import CONTENT_OF_NODES, IDS_TOLD, Edit, Line, NodeId, Occasion, Result, Words
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.nodes.inserting import Inserting, Side


class InsertContent(Edit):
    """Content before or after a node, or at the end of one that holds others."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"content": "Notice is given in writing.", "after": "p-1a2b3c4d"}]}
    )

    task_type: ClassVar = "insert_content"
    title_for_people: ClassVar = "Insert content"

    content: Annotated[Words, Field(min_length=1)] = Field(
        description=f"What is inserted. An item next to an item of a list belongs to that list. {CONTENT_OF_NODES}"
    )
    before: NodeId | None = Field(
        default=None, description="The node before which it comes, by its id; this, `after` or `into`."
    )
    after: NodeId | None = Field(
        default=None, description="The node behind which it comes; behind a heading is directly below it."
    )
    into: NodeId | None = Field(
        default=None,
        description="The node at whose end it comes: a chapter, a section, a page, a cell, a header, a note or a box.",
    )
    style: Line | None = Field(
        default=None, description="The paragraph style of its paragraphs that are no headings, by its name."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(place is not None for place in (self.before, self.after, self.into)) != 1:
            message = "give before, after or into, one of the three"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        side: Side = "before" if self.before is not None else "after" if self.after is not None else "into"
        inserting = Inserting(document.finder(), occasion.fresh_id)
        made = inserting.insert(occasion.blocks(self.content), self._beside, side, self.style)
        document.name(occasion.task_id)
        ids = made.ids()
        occasion.given += ids
        return {"id": ids[0], "ids": ids[:IDS_TOLD]}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self._beside]

    @property
    def _beside(self) -> str:
        return self.before or self.after or self.into or ""
