"""`sleep`: waits, for demos and for measuring."""

import asyncio
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from officeplane.handlers.context import Context
from officeplane.handlers.contract import handler


class Sleep(BaseModel):
    """How long to sleep."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)] = Field(description="How long.")


@handler("sleep", payload=Sleep, title="Sleep for a number of seconds")
async def sleep(payload: Sleep, _context: Context) -> dict[str, object]:
    """Sleep, and say for how long."""
    await asyncio.sleep(payload.seconds)
    return {"slept": payload.seconds}
