"""Task types that fail and report as the tests want it."""

import asyncio
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from officeplane import Context, PermanentFailure, handler

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


@handler("cli.linger")
async def linger(payload: BaseModel, context: Context) -> None:
    """Run until told to stop, and then for a moment longer."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.5)
