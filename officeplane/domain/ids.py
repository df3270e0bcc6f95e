"""Ids: tasks and claims are UUIDv7 texts, document ids are chosen by users."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NewType

TaskId = NewType("TaskId", str)
ClaimId = NewType("ClaimId", str)
HoldId = NewType("HoldId", str)
DagId = NewType("DagId", str)
DocumentId = NewType("DocumentId", str)
WorkerId = NewType("WorkerId", str)
KeyId = NewType("KeyId", str)
AgentId = NewType("AgentId", str)

DOCUMENT_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$"

AGENT_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._@:-]{0,127}$"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII)


def parse_task_id(text: str) -> TaskId | None:
    """Return the id in its one spelling, or None when the text is no id."""
    lowered = text.lower()
    return TaskId(lowered) if _UUID.fullmatch(lowered) else None


def time_of(task_id: TaskId) -> datetime | None:
    """Return when an id was made, by the clock of whoever made it; None when it does not tell."""
    milliseconds = int(task_id[:8] + task_id[9:13], 16)
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds) if task_id[14] == "7" else None
    except OverflowError:
        return None
