"""Task types that fail and report as the tests want it."""

import asyncio

from pydantic import BaseModel

from officeplane import Context, PermanentFailure, handler


class Report(BaseModel):
    """How long to stay half done."""

    seconds: float


@handler("cli.fail")
async def fail(payload: BaseModel, context: Context) -> None:
    """Fail for good."""
    message = "there is no such sheet"
    raise PermanentFailure(message)


@handler("cli.report", payload=Report)
async def report(payload: Report, context: Context) -> None:
    """Report progress and stay there for a while."""
    await context.progress(0.5, "halfway")
    await asyncio.sleep(payload.seconds)


@handler("cli.linger")
async def linger(payload: BaseModel, context: Context) -> None:
    """Run until told to stop, and then for a moment longer."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0.5)
