"""Events: what happened to a task, in the order in which readers see it."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from officeplane.domain.ids import DagId, DocumentId, TaskId
from officeplane.domain.space import DEFAULT, Space

_POSITION: Final = re.compile(r"(\d{1,19})-(\d{1,18})-(\d{1,10})", re.ASCII)


END_OF_ROW: Final = 2**31 - 1


@dataclass(frozen=True, slots=True, order=True)
class EventPosition:
    """Where a reader has got to: a transaction, a row of it, and an id within the row."""

    xid: int
    row: int
    index: int = END_OF_ROW

    def __str__(self) -> str:
        return f"{self.xid}-{self.row}-{self.index}"


def parse_position(text: str) -> EventPosition | None:
    """Return the position that an event id stands for, or None when it is none of ours."""
    match = _POSITION.fullmatch(text)
    return EventPosition(int(match[1]), int(match[2]), int(match[3])) if match else None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one task, to a document without one, or to a DAG."""

    position: EventPosition
    kind: str
    task_id: TaskId | None
    document_id: DocumentId | None
    at: datetime
    dag_id: DagId | None = None
    space: Space = DEFAULT


@dataclass(frozen=True, slots=True)
class Reset:
    """Some events after the reader's position are gone; it must look at the tasks themselves."""
