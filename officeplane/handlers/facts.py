"""Facts of a task: what its handler may rely on, in a worker's loop and in a child process alike."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self

from officeplane.domain.ids import TaskId
from officeplane.domain.space import bare
from officeplane.domain.task import ClaimedTask


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task as its handler sees it while one attempt runs."""

    id: TaskId
    """The same for every attempt: the key to give to others who must not act twice."""

    task_type: str
    """The type that the handler was found by."""

    document_id: str | None
    """The document in whose lane it runs; None when it has none."""

    attempt: int
    """The number of this attempt; the first is 1. It only rises, also over hand-backs and manual retries."""

    attempts_charged: int
    """How many of the attempts before this one count as failures; a manual retry begins anew."""

    max_retries: int
    """How many charged failures are followed by another attempt: when as many are charged, this is the last."""

    timeout_seconds: float
    """How long this attempt may take."""

    parent_id: TaskId | None
    """The batch that it is a child of; None when it is in none."""

    root_id: TaskId
    """The outermost batch around it; its own id when it is in none."""

    created_at: datetime
    """When it was accepted, in UTC."""

    @classmethod
    def of(cls, task: ClaimedTask) -> Self:
        """Return the facts of an attempt in a worker's hands."""
        return cls(
            id=task.id,
            task_type=task.task_type,
            document_id=None if task.document_id is None else bare(task.document_id),
            attempt=task.attempt,
            attempts_charged=task.attempts_charged,
            max_retries=task.max_retries,
            timeout_seconds=task.timeout_seconds,
            parent_id=task.parent_id,
            root_id=task.root_id,
            created_at=task.created_at,
        )

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` makes the same facts of."""
        return {**asdict(self), "created_at": self.created_at.isoformat()}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> Self:
        """Return the facts that a worker has sent to its child."""
        facts: dict[str, Any] = {**said, "created_at": datetime.fromisoformat(said["created_at"])}
        return cls(**facts)
