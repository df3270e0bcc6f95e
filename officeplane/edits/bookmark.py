"""`bookmark`: a node has a name that links and fields of Word can use, or loses it."""

from typing import Annotated, ClassVar, Self, TypeAlias

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import Edit, NodeId, Occasion, Result, Words
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.marks.bookmarking import delete_bookmark, put_bookmark

Name: TypeAlias = Annotated[Words, Field(max_length=40, pattern=r"^\p{L}[\p{L}\p{N}_]*$")]


class SetBookmark(Edit):
    """A name for a stretch of the text; `nodes/{id}?with=format` tells those of a paragraph."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"nodeId": "p-1a2b3c4d", "name": "payment_terms"}]})

    task_type: ClassVar = "bookmark"
    title_for_people: ClassVar = "Set a bookmark"

    node_id: NodeId | None = Field(
        default=None, description="The node that it names, by its id as reading gives it; with `name`."
    )
    name: Name | None = Field(
        default=None,
        description="As Word takes it: a letter, then letters, digits and underscores, 40 at most. No other bookmark "
        "of the document has it, whatever its capitals.",
    )
    delete: Annotated[Words, Field(min_length=1, max_length=40, pattern="^[^_]")] | None = Field(
        default=None,
        description="A bookmark to take away, by its name, instead of `nodeId` and `name`; the text stays.",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        is_new = self.node_id is not None and self.name is not None
        if is_new == (self.delete is not None) or (self.node_id is None) != (self.name is None):
            message = "give nodeId and name, or delete"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        finder = document.finder()
        if self.delete is not None:
            place, warnings = delete_bookmark(finder, self.delete)
            occasion.warn(warnings)
            return {"id": place, "name": self.delete}
        return {"id": put_bookmark(finder, self.node_id or "", self.name or ""), "name": self.name}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [] if self.node_id is None else [self.node_id]
