"""The task types that are measured: one that does nothing, one that takes a known time."""

import asyncio
from typing import Final

from pydantic import BaseModel, ConfigDict

from officeplane.bench import traces
from officeplane.handlers.context import Context
from officeplane.handlers.contract import handler

NOOP: Final = "bench.noop"
NAP: Final = "bench.nap"
NAP_SECONDS: Final = 0.002


class StumbledError(Exception):
    """What goes wrong the first time, and not again."""


class Numbered(BaseModel):
    """Which task it is, of which lane, and whether it fails the first time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    number: int
    lane: int = traces.NO_LANE
    stumbles: bool = False


@handler(NOOP, payload=Numbered, title="Leave a trace")
async def noop(payload: Numbered, context: Context) -> dict[str, object]:
    """Return at once."""
    if payload.stumbles and context.task.attempt == 1:
        raise StumbledError
    traces.leave(payload.number, traces.now(), lane=payload.lane)
    return {"number": payload.number}


@handler(NAP, payload=Numbered, title="Sleep for two milliseconds")
async def nap(payload: Numbered, _context: Context) -> dict[str, object]:
    """Wait, as for somebody else's answer."""
    began = traces.now()
    await asyncio.sleep(NAP_SECONDS)
    traces.leave(payload.number, began, lane=payload.lane)
    return {"number": payload.number}
