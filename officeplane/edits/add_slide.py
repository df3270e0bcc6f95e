"""`add_slide`: a slide with a title, a body and notes."""

from typing import ClassVar

from officeplane.edits.contract import Edit, Line, Occasion, Result, Words
from officeplane.formats.markdown import blocks
from officeplane.formats.powerpoint.presentation import Presentation


class AddSlide(Edit):
    """A slide at the end, in the layout of this name or in one that fits."""

    task_type: ClassVar = "add_slide"
    title_for_people: ClassVar = "Add a slide"

    layout: Line | None = None
    title: Line
    body: Words | None = None
    notes: Words | None = None

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:  # noqa: ARG002 - slides have ids
        return {"id": presentation.add_slide(self.layout, self.title, blocks(self.body), self.notes)}
