"""`delete_node`: a node is taken out, with all that is below it and what only it used."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from officeplane.edits.contract import NodeId, Occasion, Result
from officeplane.edits.delete_sheet import DeleteSheet
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from officeplane.formats.word.nodes.deleting import Deleting


class DeleteNode(TrackedEdit):
    """A node less; to name it is consent to what goes with it, of which warnings tell."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"nodeId": "p-1a2b3c4d"}, {"nodeId": "slide-256.2"}]})

    task_type: ClassVar = "delete_node"
    title_for_people: ClassVar = "Delete a node"

    node_id: NodeId = Field(
        description="The node, by its id as outline, find and nodes tell it. In a text: a paragraph, an item, a "
        "heading with all below it, a page, a table, a row, a picture, a break, a note, a text box, a control. In a "
        "presentation: a slide, anything that lies on one (slide-257.4), a row of a table (slide-257.4.r2), or notes "
        "(slide-257.notes). In a workbook: a sheet."
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        # To name a node in order to delete it is consent to what goes with it.
        occasion.give_up(Deleting(document.finder()).delete(self.node_id), discard=True)
        return {"id": self.node_id}

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:
        return DeleteSheet(sheet=workbook.sheet_node(self.node_id)).in_excel(workbook, occasion)

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        occasion.give_up(presentation.delete_node(self.node_id), discard=True)
        return {"id": self.node_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
