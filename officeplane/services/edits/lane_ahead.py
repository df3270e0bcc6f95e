"""One lane ahead of its turn: the edits that are done, those that are being done, and those to come."""

import asyncio
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from uuid_utils import uuid7

from officeplane.domain.ids import ClaimId, DocumentId, TaskId
from officeplane.domain.outcome import Edited, Outcome
from officeplane.domain.revision import EditBase, NewRevision
from officeplane.domain.task import ClaimedTask
from officeplane.store.claims import Upcoming
from officeplane.store.settlements import AheadEdit

AHEAD_MAX: Final = 16
AHEAD_BYTES_MAX: Final = 1024 * 1024
SECONDS_MAX: Final = 10.0
"""An edit that takes longer is left to its own turn, in which its own timeout counts."""


class Work(NamedTuple):
    """A task whose edits a child is given."""

    task_id: TaskId
    task_type: str
    document_id: DocumentId
    payload_json: str
    created_at: datetime
    author: str | None

    @classmethod
    def of(cls, task: ClaimedTask, author: str | None) -> "Work":
        """Return the work of a claimed task that has a document."""
        assert task.document_id is not None  # noqa: S101 - it has a base
        return cls(task.id, task.task_type, task.document_id, task.payload_json, task.created_at, author)


class Step(NamedTuple):
    """An edit of the lane, and the version of its row as it was read; none for one that is claimed."""

    work: Work
    version: str | None

    @classmethod
    def ahead(cls, upcoming: Upcoming, document_id: DocumentId) -> "Step":
        """Return the step of a task that waits."""
        work = Work(
            upcoming.id,
            upcoming.task_type,
            document_id,
            upcoming.payload_json,
            upcoming.created_at,
            upcoming.author,
        )
        return cls(work, upcoming.version)


@dataclass(frozen=True, slots=True)
class Done:
    """An edit that was done, mostly before its turn."""

    step: Step
    base: EditBase
    outcome: Outcome
    seconds: float

    def behind(self, leader_id: TaskId, place: int) -> tuple[AheadEdit, NewRevision] | None:
        """Return it as it is settled with the attempt before it; None when it has to wait for its own turn."""
        work, version = self.step
        if version is None or not isinstance(self.outcome, Edited):
            return None
        claim_id, result_json = ClaimId(str(uuid7())), self.outcome.result_json
        edit = AheadEdit(leader_id, place, work.task_id, work.task_type, claim_id, version, result_json, self.seconds)
        return edit, self.outcome.revision


class LaneAhead:
    """The edits of one document's lane that are done, being done and to come."""

    def __init__(self, base: EditBase) -> None:
        self.document_id = base.document_id
        self.end = base
        """What the last edit made."""
        self.done: deque[Done] = deque()
        self.doing: deque[Step] = deque()
        self.coming: deque[Step] = deque()
        self.last: TaskId | None = None
        self.going: asyncio.Task[None] | None = None
        self.stepped = asyncio.Event()
        self.deadline: asyncio.Timeout | None = None
        self.trouble: Exception | None = None

    @property
    def size(self) -> int:
        """How many bytes of pieces the edits that are done have made."""
        return sum(one.outcome.revision.pieces_size for one in self.done if isinstance(one.outcome, Edited))

    @property
    def is_claimed(self) -> bool:
        """Whether the turn of what comes next has come."""
        return bool(self.coming) and self.coming[0].version is None

    @property
    def may_go_on(self) -> bool:
        """Whether there is room for more, and what it would start from is sure."""
        is_sure = not self.done or isinstance(self.done[-1].outcome, Edited)
        return is_sure and len(self.done) < AHEAD_MAX and self.size < AHEAD_BYTES_MAX

    def leads_to(self, task: ClaimedTask, base: EditBase) -> bool:
        """Tell whether this task is the next edit of the lane, and starts from the same bytes."""
        if self.done:
            return self.done[0].step.work.task_id == task.id and self.done[0].base == base
        coming = self.doing or self.coming
        return self.end == base and bool(coming) and coming[0].work.task_id == task.id

    def allow_time(self, *, without_end: bool) -> None:
        """Let the edit that is being done have its time; one whose turn it is has a timeout of its own."""
        if self.deadline is not None and not self.deadline.expired():
            self.deadline.reschedule(None if without_end else asyncio.get_running_loop().time() + SECONDS_MAX)
