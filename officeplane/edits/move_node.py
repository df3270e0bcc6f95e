"""`move_node`: a node goes to another place."""

from typing import ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import NodeId, Occasion, Result, the_one_place
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.node_editing import Place
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from officeplane.formats.word.nodes.moving import Moving


class MoveNode(TrackedEdit):
    """One of `before`, `after` and `into` says where it stands afterwards; the result has its id from then on."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"nodeId": "p-1a2b3c4d", "after": "p-5e6f7a8b"},
                {"nodeId": "slide-258", "after": "slide-256"},
            ]
        }
    )

    task_type: ClassVar = "move_node"
    title_for_people: ClassVar = "Move a node"

    node_id: NodeId = Field(
        description="The node, by its id as outline, find and nodes tell it. In a text: a paragraph, an item, a "
        "heading with all below it, a page, a table, a row. In a presentation: a slide, a shape, a row. In a workbook: "
        "a sheet."
    )
    before: NodeId | None = Field(
        default=None,
        description="The node that it stands right before. In a presentation: a slide for a slide, which enters its "
        "chapter; a shape for a shape of the same slide, which then lies right behind it; a row for a row of the same "
        "table.",
    )
    after: NodeId | None = Field(
        default=None,
        description="The node that it stands right after. In a text, behind a heading is directly below it, but "
        "another heading of its level or above comes behind all that is below it. A shape then lies right in front of "
        "it.",
    )
    into: NodeId | None = Field(
        default=None,
        description="The node at whose end it stands. In a text: a chapter, a page, a cell. In a presentation: a "
        "chapter or section header for a slide; a slide for a shape, which keeps its place and size there and may get "
        "another id.",
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        the_one_place(self.before, self.after, self.into)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:  # noqa: ARG002 - what moves keeps its id
        side, beside = the_one_place(self.before, self.after, self.into)
        Moving(document.finder()).move(self.node_id, beside, side)
        return {"id": self.node_id}

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:  # noqa: ARG002 - what moves keeps its id
        side, beside = the_one_place(self.before, self.after, self.into)
        return {"id": workbook.move_sheet(self.node_id, workbook.position_beside(self.node_id, side, beside))}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        moved, losses = presentation.move_node(self.node_id, Place(*the_one_place(self.before, self.after, self.into)))
        # What is aimed at a shape cannot follow it to another slide.
        occasion.give_up(losses, discard=True)
        return {"id": moved}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
