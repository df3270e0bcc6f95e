"""Waiting for a task on behalf of a caller, no longer than the server itself stays."""

import asyncio

from officeplane.api.plane import Plane
from officeplane.domain.ids import TaskId
from officeplane.domain.task import TaskDetails
from officeplane.runtime import Runtime


async def wait_for(plane: Plane, runtime: Runtime, task_id: TaskId, seconds: float) -> TaskDetails:
    """Return the task once it is final, the time is over, or the server is about to stop."""
    waiting = asyncio.ensure_future(runtime.long_poll.wait(task_id, seconds))
    stopping = asyncio.ensure_future(plane.stopping.wait())
    try:
        await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        return waiting.result() if waiting.done() else await runtime.tasks.find(task_id)
    finally:
        waiting.cancel()
        stopping.cancel()
