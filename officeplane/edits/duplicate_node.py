"""`duplicate_node`: a copy of a node stands right behind it."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from officeplane.edits.contract import IDS_TOLD, NodeId, Occasion, Result
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.nodes import slide_id_of
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from officeplane.formats.word.nodes.duplicating import Duplicating


class DuplicateNode(TrackedEdit):
    """The copy has what the original has but comments and bookmarks, and ids of its own, which the result tells."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"nodeId": "p-1a2b3c4d"}, {"nodeId": "slide-256"}]})

    task_type: ClassVar = "duplicate_node"
    title_for_people: ClassVar = "Duplicate a node"

    node_id: NodeId = Field(
        description="The node, by its id as outline, find and nodes tell it. In a text: a paragraph, an item, a "
        "heading with all below it, a page, a table, a row. In a presentation: a slide with its notes, charts and "
        "pictures; a shape, whose copy lies a little beside it; a row of a table. In a workbook: a sheet."
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        made = Duplicating(document.finder(), occasion.fresh_id).duplicate(self.node_id)
        document.name(occasion.task_id)
        ids = made.ids()
        occasion.given += ids
        return {"id": ids[0], "ids": ids[:IDS_TOLD]}

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:  # noqa: ARG002 - sheets have ids
        copied = workbook.copy_sheet(workbook.sheet_node(self.node_id), None, None)
        return {"id": copied.id, **({"tables": copied.tables} if copied.tables else {})}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        slide = slide_id_of(self.node_id)
        before = {warning.detail for warning in presentation.overflows([slide])}
        made, not_copied = presentation.duplicate_node(self.node_id)
        occasion.warn(not_copied)
        slides = [slide_id_of(made)]
        occasion.warn(warning for warning in presentation.overflows(slides) if warning.detail not in before)
        return {"id": made}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
