"""The task type of the sweep: it says what it does, waits when told to, and fails as often as told to."""

import asyncio
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from officeplane import Context, edits, handler
from tests.workers.marks import Marks

_PAUSE_SECONDS: Final = 0.01


class Work(BaseModel):
    """Where to leave marks, under which name; how often to fail; whether to wait at the gate, and to edit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path
    name: str
    fails: int = 0
    gated: bool = False
    edits: bool = False


@handler("sweep.work", payload=Work)
async def work(payload: Work, context: Context) -> dict[str, object] | list[edits.Edit]:
    """Mark the beginning and the end of each attempt."""
    marks = Marks(payload.folder)
    marks.leave("begin", payload.name, context.attempt)
    while payload.gated and not marks.gate_is_open(payload.name):
        await asyncio.sleep(_PAUSE_SECONDS)
    if context.attempt <= payload.fails:
        message = f"attempt {context.attempt} was to fail"
        raise RuntimeError(message)
    marks.leave("end", payload.name, context.attempt)
    return [edits.AddChapter(title=payload.name)] if payload.edits else {"attempt": context.attempt}
