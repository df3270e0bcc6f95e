"""`revert`: an earlier revision's bytes become a new one."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from officeplane.handlers.contract import TaskType


class Revert(BaseModel):
    """Which revision to return to."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    to_revision: Annotated[int, Field(ge=1, le=2**53, alias="toRevision")] = Field(
        description="The revision whose bytes become the newest."
    )


REVERT: Final = TaskType(
    name="revert", title="Return to an earlier revision", payload=Revert, run=None, is_async=False, edits_document=True
)
