"""`edit_slide`: another title or body for a slide, another layout or background, hidden or not."""

from typing import Annotated, ClassVar, Final, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.edits.contract import BASE64_MAX, CONTENT, Content, Discard, Edit, Line, NodeId, Occasion, Result
from officeplane.formats.markdown import SLIDES
from officeplane.formats.opening import Document
from officeplane.formats.powerpoint.presentation import Presentation

_COLOUR: Final = r"^[0-9A-Fa-f]{6}$"


class EditSlide(Edit):
    """What is not given stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"slideId": "slide-256", "layout": "Title and Content", "background": "F2F2F2"}]
        }
    )

    task_type: ClassVar = "edit_slide"
    title_for_people: ClassVar = "Edit a slide"
    payload_bytes_max: ClassVar = BASE64_MAX

    slide_id: NodeId = Field(description="The slide, by its id in the outline.")
    title: Line | None = Field(default=None, description="Another title, one line of plain text; left out, it stays.")
    body: Content | None = Field(default=None, description=f"Another body; left out, it stays. {CONTENT}")
    layout: Line | None = Field(
        default=None,
        description="Another layout of the presentation, by its name or that of its part (slideLayout3). Placeholders "
        "take the places of their kind there; what has a place of its own keeps it, and for what the layout has none a "
        "warning tells that it stays where it was.",
    )
    hidden: bool | None = Field(default=None, description="Whether shows leave it out; left out, that stays.")
    background: Annotated[str, Field(pattern=_COLOUR)] | None = Field(
        default=None,
        description="The colour behind it as RRGGBB, in place of what was there; null for that of its layout. Left "
        "out, it stays.",
    )
    discard: Discard = False

    @model_validator(mode="after")
    def _something(self) -> Self:
        given = (self.title, self.body, self.layout, self.hidden)
        if all(each is None for each in given) and not self._has_background:
            message = "give a title, a body, a layout, hidden or a background"
            raise ValueError(message)
        return self

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        body = None if self.body is None else occasion.blocks(self.body, SLIDES)
        before = presentation.overflows([self.slide_id])
        if self.layout is not None:
            losses, unplaced = presentation.set_layout(self.slide_id, self.layout)
            occasion.give_up(losses, discard=self.discard)
            occasion.warn(unplaced)
        if self.hidden is not None:
            presentation.set_hidden(self.slide_id, is_hidden=self.hidden)
        if self._has_background:
            # To name the background is consent to what was there.
            occasion.give_up(presentation.set_background(self.slide_id, self.background), discard=True)
        if self.title is not None or body is not None:
            occasion.give_up(presentation.edit_slide(self.slide_id, self.title, body), discard=self.discard)
        occasion.warn(presentation.overflows([self.slide_id]), but=before)
        return {"id": self.slide_id}

    @property
    def _has_background(self) -> bool:
        return "background" in self.model_fields_set  # null says something, too

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.slide_id]
