"""`upload`: a file that was sent while its document was busy takes its place when its turn comes."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from officeplane.handlers.contract import TaskType

_UUID: Final = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"


class Upload(BaseModel):
    """Where the file waits; only a PUT of a document knows."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    upload_id: Annotated[str, Field(alias="uploadId", pattern=_UUID)] = Field(
        description="Where the file waits, as the PUT knows."
    )
    merges: bool = Field(
        default=False, description="Whether only what it has changed of the revision that it follows is put in place."
    )


UPLOAD: Final = TaskType(
    name="upload", title="Put an uploaded file in place", payload=Upload, run=None, is_async=False, edits_document=True
)
