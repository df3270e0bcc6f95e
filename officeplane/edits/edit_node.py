"""`edit_node`: what one node says is written anew."""

from typing import ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import BASE64_MAX, CONTENT_OF_NODES, Content, Discard, NodeId, Occasion, Result, Words
from officeplane.edits.tracked import TrackedEdit
from officeplane.formats.markdown import WORDS
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.nodes import slide_id_of
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from officeplane.formats.word.nodes.texts import NodeTexts


class EditNode(TrackedEdit):
    """What the node says from now on; of its paragraphs those that stay the same are left untouched."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"nodeId": "p-1a2b3c4d", "content": "Payment is due within **14 days**."},
                {"nodeId": "slide-256.3", "content": "Revenue is up by **a third**"},
            ]
        }
    )

    task_type: ClassVar = "edit_node"
    title_for_people: ClassVar = "Edit a node"
    payload_bytes_max: ClassVar = BASE64_MAX

    node_id: NodeId = Field(
        description="The node, by its id as outline, find and nodes tell it. In a text: a paragraph, a heading or a "
        "chapter to rename, an item, a cell, a header, a note, a text box. In a presentation: a shape with a text, a "
        "title, a cell of a table (slide-257.4.r1.c2), the notes of a slide (slide-257.notes), or a chapter to rename."
    )
    content: Content | None = Field(
        default=None,
        description=f"What it says, in place of all that it said; content that was read changes nothing. In a text one "
        f"block for a paragraph, a heading or an item, any for what holds several. Or give text. {CONTENT_OF_NODES}",
    )
    text: Words | None = Field(
        default=None,
        description="What it says as plain text in which no sign means anything; each line is a paragraph where the "
        "node holds several, else a line of it; empty empties it. Or give content.",
    )
    keep_format: bool = Field(
        default=True,
        description="Whether new text looks like the one that it takes the place of: its font, size, colour, "
        "alignment, bullets. False: as the style, the placeholder or the layout has it.",
    )
    discard: Discard = False

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.content is None) == (self.text is None):
            message = "give either content or text"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        said = NodeTexts(document.finder(), occasion.picture_number).write(
            self.node_id, self.text if self.text is not None else self.content or "", is_plain=self.text is not None,
            keep_format=self.keep_format,
        )  # fmt: skip
        occasion.give_up(said.losses, discard=self.discard)
        occasion.warn(said.warnings)
        return {"id": said.id}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        said = self.text if self.text is not None else occasion.blocks(self.content, WORDS)
        slides = [slide_id_of(self.node_id)]
        before = presentation.overflows(slides)
        losses = presentation.edit_node(self.node_id, said, keep_format=self.keep_format)
        occasion.give_up(losses, discard=self.discard)
        occasion.warn(presentation.overflows(slides), but=before)
        return {"id": self.node_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
