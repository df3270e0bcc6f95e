"""`footnote`: a note behind a text or at the end of a node."""

from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import Edit, NodeId, Occasion, Result, Words
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.marks.notes import Kind, add_note


class AddFootnote(Edit):
    """A note at the foot of the page, or at the end of the document; notes are numbered by where they stand."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"nodeId": "p-1a2b3c4d", "find": "due", "text": "See the order of payment."}]}
    )

    task_type: ClassVar = "footnote"
    title_for_people: ClassVar = "Add a footnote"

    node_id: NodeId = Field(
        description="The node of the text that it is about, by its id as reading gives it, such as a paragraph, a "
        "heading, an item or a cell."
    )
    find: Annotated[Words, Field(min_length=1, max_length=10_000)] | None = Field(
        default=None,
        description="A text in that node, capitals included: the mark of the note stands right behind it. Left out: "
        "at the end of the node's last paragraph.",
    )
    nth: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="With `find`: which of its occurrences in the node, from 1; left out, the first."
    )
    text: Annotated[Words, Field(min_length=1)] = Field(
        description="What it says, in plain text; a line break begins another paragraph."
    )
    endnote: bool = Field(
        default=False, description="Whether it stands at the end of the document instead of the foot of the page."
    )

    @model_validator(mode="after")
    def _nth_of_something(self) -> Self:
        if self.nth is not None and self.find is None:
            message = "nth counts occurrences of find: give find, or leave nth out"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:  # noqa: ARG002
        kind: Kind = "endnote" if self.endnote else "footnote"
        return {"id": add_note(document.finder(), self.node_id, self.find, self.nth, self.text, kind)}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
