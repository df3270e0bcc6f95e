"""`replace_image`: another picture is shown at the place of one."""

from typing import ClassVar

from pydantic import ConfigDict, Field

from officeplane.edits.contract import BASE64_MAX, Edit, NodeId, Occasion, Result
from officeplane.edits.image_fields import ONE_PIXEL, Alt, Base64, Points
from officeplane.formats.excel.workbook import Workbook
from officeplane.formats.opening import Document
from officeplane.formats.pictures.bitmap import given_bitmap
from officeplane.formats.powerpoint.presentation import Presentation
from officeplane.formats.word.document import Word


class ReplaceImage(Edit):
    """Another picture, whole, where one is: its place and width stay, its height follows the new one's proportions."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"nodeId": "picture-4", "base64": ONE_PIXEL, "alt": "Our logo since 2026."}]}
    )

    task_type: ClassVar = "replace_image"
    title_for_people: ClassVar = "Replace a picture"
    payload_bytes_max: ClassVar = BASE64_MAX

    node_id: NodeId = Field(description="The picture, by its id in the list of images.")
    base64: Base64
    alt: Alt | None = Field(
        default=None,
        description="A sentence that says what the picture shows; left out, that of the old one stays.",
    )
    width: Points | None = Field(
        default=None, description="How wide it is from now on, in points; left out, as wide as it was."
    )

    def in_word(self, document: Word, occasion: Occasion) -> Result:  # noqa: ARG002
        document.pictures().replace(self.node_id, given_bitmap(self.base64), self.alt, self.width)
        return {"id": self.node_id}

    def in_excel(self, workbook: Workbook, occasion: Occasion) -> Result:  # noqa: ARG002
        workbook.replace_image(self.node_id, given_bitmap(self.base64), self.alt, self.width)
        return {"id": self.node_id}

    def in_powerpoint(self, presentation: Presentation, occasion: Occasion) -> Result:  # noqa: ARG002
        presentation.replace_image(self.node_id, given_bitmap(self.base64), self.alt, self.width)
        return {"id": self.node_id}

    def targets(self, document: Document) -> list[str]:  # noqa: ARG002
        return [self.node_id]
