"""`copy_slide`: a slide of another presentation is put into this one."""

from typing import Annotated, ClassVar

from pydantic import ConfigDict, Field

from officeplane.domain.document import InvalidEditError
from officeplane.domain.ids import DOCUMENT_ID_PATTERN
from officeplane.edits.contract import Edit, NodeId, Occasion, Part, Position, Result
from officeplane.formats.powerpoint.presentation import Presentation


class SlideOrigin(Part):
    """Where the slide is taken from."""

    document_id: Annotated[str, Field(pattern=DOCUMENT_ID_PATTERN)] = Field(
        description="The presentation that has the slide. It may be the one that is edited: so a slide that it had "
        "once comes back."
    )
    revision: Annotated[int, Field(ge=1, le=2_147_483_647)] | None = Field(
        default=None,
        description="As of which revision; left out, the one that the presentation has when the task is submitted.",
    )
    slide_id: NodeId = Field(description="The slide, by its id in the outline of that revision.")


class CopySlide(Edit):
    """A copy with its pictures, charts and notes, in the layout of this presentation that is called as its own."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"from": {"documentId": "sales", "revision": 7, "slideId": "slide-258"}, "position": 2}]
        }
    )

    task_type: ClassVar = "copy_slide"
    title_for_people: ClassVar = "Copy a slide from a presentation"
    takes_from: ClassVar = "from"

    origin: SlideOrigin = Field(
        validation_alias="from",
        serialization_alias="from",
        description="Which slide, and of which presentation: one that whoever asks may read.",
    )
    position: Position | None = Field(
        default=None,
        description="Which slide it comes before, counting from 0; left out, or beyond the last, means the end.",
    )

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:
        if occasion.source is None:
            raise InvalidEditError("copy_slide is a task of its own or in a batch: a handler cannot ask for it")
        name = f"{self.origin.slide_id} of {self.origin.document_id}"
        made, warnings = presentation.bring_slide(occasion.source, name, self.position)
        occasion.warn(warnings)
        occasion.warn(presentation.overflows([made]))
        return {"id": made}
