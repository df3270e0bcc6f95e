"""`delete_node`: one node less, with all that is below it."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from officeplane.edits.contract import Edit, NodeId, Occasion, Result
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.nodes.deleting import Deleting


class DeleteNode(Edit):
    """A node less; what else went with it is told."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"nodeId": "p-1a2b3c4d"}]})

    task_type: ClassVar = "delete_node"
    title_for_people: ClassVar = "Delete a node"

    node_id: NodeId = Field(
        description="The node, by its id: a paragraph, an item, a heading with all below it, a page, a table, a row, a "
        "picture, a break, a note, a text box, a control."
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        # To name a node in order to delete it is consent to what goes with it.
        occasion.give_up(Deleting(document.finder()).delete(self.node_id), discard=True)
        return {"id": self.node_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
