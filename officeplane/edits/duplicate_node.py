"""`duplicate_node`: a node once more, right behind it."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from officeplane.edits.contract import IDS_TOLD, Edit, NodeId, Occasion, Result
from officeplane.formats.opening import Document
from officeplane.formats.word.document import Word
from officeplane.formats.word.nodes.duplicating import Duplicating


class DuplicateNode(Edit):
    """A copy of a node, with all below it, right behind it; comments and bookmarks are not copied, notes are."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"nodeId": "p-1a2b3c4d"}]})

    task_type: ClassVar = "duplicate_node"
    title_for_people: ClassVar = "Duplicate a node"

    node_id: NodeId = Field(
        description="The node, by its id: a paragraph, an item, a heading with all below it, a page, a table, a row."
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        made = Duplicating(document.finder(), occasion.fresh_id).duplicate(self.node_id)
        document.name(occasion.task_id)
        ids = made.ids()
        occasion.given += ids
        return {"id": ids[0], "ids": ids[:IDS_TOLD]}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
