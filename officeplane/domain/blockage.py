"""Blockage: what keeps a worker's event loop from turning."""

from typing import NamedTuple

from officeplane.domain.ids import TaskId


class Blockage(NamedTuple):
    """For how long the loop has not turned, in which task, and at which line; no task: in none that is in hand."""

    seconds: float
    at: str
    task_id: TaskId | None = None
    task_type: str | None = None

    def __str__(self) -> str:
        """Return what is said of the worker's event loop."""
        task = "" if self.task_id is None else f" in task {self.task_id} ({self.task_type})"
        return f"blocked for {self.seconds:.0f} s{task} at {self.at}"
