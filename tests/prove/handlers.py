"""Task types of the proofs."""

import asyncio
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from officeplane import Context, handler
from tests.workers.marks import Marks


class Waiting(BaseModel):
    """Where to leave marks, under which name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path
    name: str


class Lasting(BaseModel):
    """How long to take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: float


class Failing(BaseModel):
    """How often to fail."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fails: int


@handler("prove.first_waits", payload=Waiting)
async def first_waits(payload: Waiting, context: Context) -> dict[str, object]:
    """Wait at the gate in the first attempt, and in no other; mark what is done."""
    marks = Marks(payload.folder)
    marks.leave("begin", payload.name, context.attempt)
    while context.attempt == 1 and not marks.gate_is_open(payload.name):
        await asyncio.sleep(0.01)
    marks.leave("end", payload.name, context.attempt)
    return {"attempt": context.attempt}


@handler("prove.last", payload=Lasting)
async def last(payload: Lasting, context: Context) -> dict[str, object]:
    """Take that long."""
    await asyncio.sleep(payload.seconds)
    return {"attempt": context.attempt}


@handler("prove.fail", payload=Failing)
async def fail(payload: Failing, context: Context) -> dict[str, object]:
    """Fail that many times."""
    if context.attempt <= payload.fails:
        raise RuntimeError
    return {"attempt": context.attempt}
