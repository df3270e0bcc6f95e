"""`add_slide`: a slide with a title, a body and notes."""

from typing import ClassVar

from pydantic import Field

from officeplane.edits.contract import BASE64_MAX, CONTENT, Content, Edit, Line, Occasion, Result, Words
from officeplane.formats.markdown import SLIDES
from officeplane.formats.powerpoint.presentation import Presentation


class AddSlide(Edit):
    """A slide at the end, in the layout of this name or in one that fits."""

    task_type: ClassVar = "add_slide"
    title_for_people: ClassVar = "Add a slide"
    payload_bytes_max: ClassVar = BASE64_MAX

    layout: Line | None = Field(
        default=None, description="A layout of the presentation, by its name; left out, one that fits is taken."
    )
    title: Line = Field(description="The slide's title, one line of plain text.")
    body: Content | None = Field(default=None, description=CONTENT)
    notes: Words | None = Field(default=None, description="What the speaker reads, in plain text.")

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        made = presentation.add_slide(self.layout, self.title, occasion.blocks(self.body, SLIDES), self.notes)
        occasion.warn(presentation.overflows([made]))
        return {"id": made}
