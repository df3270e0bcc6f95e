"""`delete_node`: a node is taken out, with what only it used."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from officeplane.edits.contract import Edit, NodeId, Occasion, Result
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation


class DeleteNode(Edit):
    """A node less; to name it is consent to what goes with it, of which warnings tell."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"nodeId": "slide-256.2"}]})

    task_type: ClassVar = "delete_node"
    title_for_people: ClassVar = "Delete a node"

    node_id: NodeId = Field(
        description="The node, by its id as outline, find and nodes tell it. In a presentation: a slide, anything that "
        "lies on one (slide-257.4), a row of a table (slide-257.4.r2), or notes (slide-257.notes)."
    )

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        # To name a node in order to delete it is consent to what goes with it.
        occasion.give_up(presentation.delete_node(self.node_id), discard=True)
        return {"id": self.node_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
