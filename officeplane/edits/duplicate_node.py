"""`duplicate_node`: a copy of a node stands right after it."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from officeplane.edits.contract import Edit, NodeId, Occasion, Result
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.nodes import slide_id_of
from officeplane.formats.powerpoint.presentation import Presentation


class DuplicateNode(Edit):
    """The copy has what the original has, and ids of its own; the result has the copy's."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"nodeId": "slide-256"}]})

    task_type: ClassVar = "duplicate_node"
    title_for_people: ClassVar = "Duplicate a node"

    node_id: NodeId = Field(
        description="The node, by its id as outline, find and nodes tell it. In a presentation: a slide with its "
        "notes, charts and pictures, but without its comments; a shape, whose copy lies a little beside it; a row of "
        "a table."
    )

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
