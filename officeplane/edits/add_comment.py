"""`add_comment`: a remark on a node or on the first place where a text stands."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from officeplane.edits.contract import Edit, NodeId, Occasion, Result, Words
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word


class AddComment(Edit):
    """A comment in the name of whoever asked for it."""

    task_type: ClassVar = "add_comment"
    title_for_people: ClassVar = "Add a comment"

    node_id: NodeId | None = Field(
        default=None, description="The node that it is about, by its id in the outline; this or `find`."
    )
    find: Annotated[Words, Field(min_length=1, max_length=10_000)] | None = Field(
        default=None,
        description="A text, as it stands in the document, at whose first occurrence it is put; this or `nodeId`.",
    )
    text: Annotated[Words, Field(min_length=1)] = Field(
        description="What it says, in plain text; a line break begins another paragraph."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if (self.node_id is None) == (self.find is None):
            message = "give nodeId or find, one of the two"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        commenting = document.commenting(occasion.signature())
        if self.node_id is not None:
            comment_id = commenting.add(self.node_id, self.text, None, None)
        else:
            comment_id = commenting.add_at(self.find or "", self.text)
        occasion.given.append(comment_id)
        return {"id": comment_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [] if self.node_id is None else [self.node_id]
