"""`move_node`: a node stands elsewhere."""

from typing import ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import Edit, NodeId, Occasion, Result
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.nodes.inserting import Side
from officeplane.formats.word.nodes.moving import Moving


class MoveNode(Edit):
    """A node, with all below it, before or after another one, or at its end; it keeps its id."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"nodeId": "p-1a2b3c4d", "after": "p-5e6f7a8b"}]})

    task_type: ClassVar = "move_node"
    title_for_people: ClassVar = "Move a node"

    node_id: NodeId = Field(
        description="The node, by its id: a paragraph, an item, a heading with all below it, a page, a table, a row."
    )
    before: NodeId | None = Field(
        default=None, description="The node before which it comes, by its id; this, `after` or `into`."
    )
    after: NodeId | None = Field(
        default=None,
        description="The node behind which it comes: behind a heading is directly below it, but another heading of its "
        "level or above comes behind all that is below it.",
    )
    into: NodeId | None = Field(
        default=None, description="The node at whose end it comes, such as a chapter or a cell."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(place is not None for place in (self.before, self.after, self.into)) != 1:
            message = "give before, after or into, one of the three"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:  # noqa: ARG002
        side: Side = "before" if self.before is not None else "after" if self.after is not None else "into"
        Moving(document.finder()).move(self.node_id, self.before or self.after or self.into or "", side)
        return {"id": self.node_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
