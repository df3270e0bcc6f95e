"""Dead letters of refused edits: an edit that was refused is an answer to whoever asked, until other tasks wait for it.

Then somebody has to decide whether they ever go on, so it becomes a dead letter
like any other failure, in the transaction that brought the two together: the
end of the one, or the beginning of the other's wait.
"""

from collections.abc import Collection
from typing import NamedTuple

from officeplane.domain.ids import TaskId
from officeplane.store import dead_letters
from officeplane.store.connection import Executor


class DeadLetterWriter(NamedTuple):
    """In whose name they are counted, and whether somebody is to be alerted."""

    counted_by: str
    alerts: bool

    async def write(self, executor: Executor, failed: Collection[TaskId]) -> None:
        """Write those of tasks that have failed, and of what failed within them, as far as others wait for them."""
        if failed:
            await dead_letters.write_awaited(executor, failed, counted_by=self.counted_by, alerts=self.alerts)
