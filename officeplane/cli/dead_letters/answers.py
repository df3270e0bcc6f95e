"""What the API answers about dead letters, as far as the command line shows it."""

from datetime import datetime
from typing import Self

from pydantic import TypeAdapter

from officeplane.cli.answers import Failure, Reading, TaskError


class Decision(Reading):
    """What somebody decided about a dead letter."""

    decision: str
    by: str = ""
    at: datetime | None = None
    note: str | None = None


class Letter(Reading):
    """A dead letter."""

    task_id: str
    task_type: str = ""
    document_id: str | None = None
    dag_id: str | None = None
    error: TaskError
    failures: tuple[Failure, ...] = ()
    total_cost_usd: float = 0.0
    fingerprint: str = ""
    poison_pill: bool = False
    recurring: bool = False
    dead_lettered_at: datetime | None = None
    escalated_at: datetime | None = None
    resolution: str | None = None
    resolved_by: str | None = None
    resolved_at: datetime | None = None
    note: str | None = None
    decisions: tuple[Decision, ...] = ()


class Skipped(Reading):
    """A dead letter for which a decision could not be carried out."""

    task_id: str
    code: str = ""
    detail: str = ""


class Part(Reading):
    """What became of some of the letters of one cause."""

    fingerprint: str
    decision: str
    count: int
    skipped: tuple[Skipped, ...] = ()
    cursor: str | None = None

    def and_then(self, part: Self) -> Self:
        """Return this part and the next as one."""
        return part.model_copy(update={"count": self.count + part.count, "skipped": (*self.skipped, *part.skipped)})


LETTERS: TypeAdapter[list[Letter]] = TypeAdapter(list[Letter])
