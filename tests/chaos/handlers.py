"""The task types of the workload: they mark what they do, and do what their payload says."""

import asyncio
import os
import time
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from officeplane import Context, PermanentFailure, handler
from officeplane.handlers.context import BlockingContext
from tests.chaos.marks import mark

EXIT_STATUS: Final = 77
Seconds = Annotated[float, Field(ge=0, le=60)]


class Work(BaseModel):
    """What an attempt shall do."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: str
    seconds: Seconds = 0
    fails_until: int = 0
    """The first attempt that does not fail."""
    is_hopeless: bool = False
    exits: bool = False
    echo: JsonValue = None


@handler("chaos.work", payload=Work)
async def work(payload: Work, context: Context) -> dict[str, object]:
    """Wait, then fail, exit or answer with what it was given."""
    mark("start", context.task.id, context.attempt)
    try:
        await asyncio.sleep(payload.seconds)
        return _end(payload, context)
    finally:
        mark("end", context.task.id, context.attempt)


@handler("chaos.child", payload=Work)
def child(payload: Work, context: BlockingContext) -> dict[str, object]:
    """Do the same in a child process."""
    mark("start", context.task.id, context.attempt)
    try:
        time.sleep(payload.seconds)
        return _end(payload, context)
    finally:
        mark("end", context.task.id, context.attempt)


def _end(payload: Work, context: Context | BlockingContext) -> dict[str, object]:
    if payload.exits:
        mark("exit", context.task.id, context.attempt)
        os._exit(EXIT_STATUS)
    if payload.is_hopeless:
        message = "it was told to fail for good"
        raise PermanentFailure(message)
    if context.attempt < payload.fails_until:
        message = f"it was told to fail until attempt {payload.fails_until}"
        raise RuntimeError(message)
    return {"token": payload.token, "attempt": context.attempt, "echo": payload.echo}
