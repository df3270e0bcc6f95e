"""Task types that fail and report as the tests want it."""

import asyncio
import os
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from officeplane import BlockingContext, Context, PermanentFailure, handler
from tests.neighbours import looks, outcome_of

_PAUSE_SECONDS: Final = 0.01


class Report(BaseModel):
    """Until which file is there to stay half done."""

    gate: Path


@handler("cli.fail")
async def fail(payload: BaseModel, context: Context) -> None:
    """Fail for good."""
    message = "there is no such sheet"
    raise PermanentFailure(message)


@handler("cli.report", payload=Report)
async def report(payload: Report, context: Context) -> None:
    """Report progress and stay there until told to go on."""
    await context.progress(0.5, "halfway")
    while not payload.gate.exists():
        await asyncio.sleep(_PAUSE_SECONDS)


@handler("cli.look_at_worker")
def look_at_worker(payload: BaseModel, context: BlockingContext) -> dict[str, str]:
    """Try to get at the secrets of the worker whose child this is."""
    return {what: outcome_of(attempt) for what, attempt in looks(os.getppid())}


@handler("cli.linger")
async def linger(payload: BaseModel, context: Context) -> None:
    """Run until told to stop, and then for a moment longer."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.5)
