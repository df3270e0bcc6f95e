"""`insert_image`: a picture is put into a text, on a slide or on a sheet."""

from typing import Annotated, ClassVar, Self

from pydantic import ConfigDict, Field, model_validator

from officeplane.domain.document import InvalidEditError
from officeplane.edits.contract import BASE64_MAX, Edit, NodeId, Occasion, Result
from officeplane.edits.image_fields import ONE_PIXEL, Alt, Base64, Points
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.pictures.bitmap import given_bitmap
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word
from officeplane.formats.word.placing import Side

_Offset = Annotated[float, Field(ge=-4_032, le=4_032, allow_inf_nan=False)]


class InsertImage(Edit):
    """A picture, at its own size as far as there is room for it; its proportions stay."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "after": "p-1a2b3c4d",
                    "base64": ONE_PIXEL,
                    "alt": "A bar chart: sales rise from 10 in 2024 to 14 in 2025.",
                    "width": 240,
                }
            ]
        }
    )

    task_type: ClassVar = "insert_image"
    title_for_people: ClassVar = "Insert a picture"
    payload_bytes_max: ClassVar = BASE64_MAX

    before: NodeId | None = Field(
        default=None,
        description="Of a text: the paragraph, heading, table or page before which it stands, in a paragraph of its "
        "own. One of `before`, `after`, `into` and `at`.",
    )
    after: NodeId | None = Field(default=None, description="Likewise, behind it.")
    into: NodeId | None = Field(
        default=None,
        description="A slide, or of a text: a paragraph, at whose end it stands in the line, or a cell, page, note, "
        "header or footer, whose last paragraph it becomes.",
    )
    at: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="Of a workbook: the cell at whose upper left corner it begins, such as `Sheet1!B4` or "
        "`'My sheet'!B4`; it lies over the cells.",
    )
    base64: Base64
    alt: Alt = Field(description="A sentence that says what the picture shows, for those who do not see it.")
    width: Points | None = Field(
        default=None,
        description="How wide it is, in points; its height follows. Left out, it has its own size at 96 pixels an "
        "inch, at most the width of the text, the slide, or ten inches on a sheet.",
    )
    left: _Offset | None = Field(
        default=None, description="On a slide: how far from its left edge, in points. Left out, in the middle."
    )
    top: _Offset | None = Field(
        default=None, description="On a slide: how far from its upper edge, in points. Left out, in the middle."
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if sum(place is not None for place in (self.before, self.after, self.into, self.at)) != 1:
            message = "give one of before, after, into and at"
            raise ValueError(message)
        return self

    def in_word(self, document: Word, occasion: Occasion) -> Result:
        self._refuse(at=self.at, left=self.left, top=self.top)
        bitmap = given_bitmap(self.base64)
        pictures = document.pictures()
        side: Side = "before" if self.before is not None else "after" if self.after is not None else "into"
        number = occasion.fresh_number("picture", pictures.numbers)
        return {"id": pictures.insert(side, self._node, bitmap, self.alt, self.width, number)}

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:  # noqa: ARG002
        self._refuse(before=self.before, after=self.after, into=self.into, left=self.left, top=self.top)
        return {"id": workbook.insert_image(self.at or "", given_bitmap(self.base64), self.alt, self.width)}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:  # noqa: ARG002
        self._refuse(before=self.before, after=self.after, at=self.at)
        bitmap = given_bitmap(self.base64)
        return {"id": presentation.insert_image(self._node, bitmap, self.alt, self.width, (self.left, self.top))}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self._node]

    @property
    def _node(self) -> str:
        return self.before or self.after or self.into or self.at or ""

    def _refuse(self, **given: object) -> None:
        """Refuse a place that documents of another format have."""
        for name, value in given.items():
            if value is not None:
                raise InvalidEditError(
                    f"{name!r} says nothing in such a document: a text takes before, after or into, a presentation "
                    "into with left and top, a workbook at"
                )
