"""Dead letters: tasks that gave up, told apart by what went wrong, and what people decide about them."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from officeplane.domain.ids import DagId, DocumentId, TaskId
from officeplane.domain.task import AttemptFailure

SOMEBODY: Final = "unknown"
"""Who decided, when nobody says."""

COMPARED_LENGTH: Final = 2_000
_HEX_LENGTH: Final = 8
_FINGERPRINT_LENGTH: Final = 16

_QUOTED: Final = re.compile(r"""(?<!\w)'[^']*'|"[^"]*"|`[^`]*`""")
_UUID: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
_HEX: Final = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_RUN: Final = re.compile(r"#(?:[.,:/+-]*#)+")
# Of what is listed, how much there is of it is one more value.
_LIST: Final = re.compile(r"(?<!\S)([^\s,;:][^,;:]{0,79}?)(?:(?:,|,? and|,? or) \1)+(?: and # more)?(?!\w)")
_SPACE: Final = re.compile(r"\s+")


def fingerprint(task_type: str, kind: str, message: str) -> str:
    """Return what failures of one cause have in common, whatever ids, numbers and values they name."""
    parts = (task_type, kind, _blotted(message[:COMPARED_LENGTH]))
    return hashlib.sha256("\x00".join(parts).encode("utf-8", "replace")).hexdigest()[:_FINGERPRINT_LENGTH]


def _blotted(message: str) -> str:
    bare = _WORD.sub(_without_values, _UUID.sub("#", _QUOTED.sub("?", message)))
    plain = _SPACE.sub(" ", _RUN.sub("#", bare)).strip().lower()
    return _LIST.sub(r"\1", plain)


def _without_values(word: re.Match[str]) -> str:
    text = word[0]
    is_hex = len(text) >= _HEX_LENGTH and _HEX.fullmatch(text) is not None
    return "#" if is_hex or any(char.isdigit() for char in text) else text


class Decision(StrEnum):
    """What can be decided about a dead letter."""

    RETRY = "retry"
    MODIFY_AND_RETRY = "modify_and_retry"
    CANCEL = "cancel"
    ESCALATE = "escalate"
    DELETE = "delete"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision as somebody makes it."""

    decision: Decision
    by: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision as it was recorded, with the generation of the task that it was about."""

    decision: Decision
    by: str
    at: datetime
    note: str | None
    generation: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One generation of a task that gave up."""

    seq: int
    task_id: TaskId
    generation: int
    task_type: str
    document_id: DocumentId | None
    dag_id: DagId | None
    kind: str
    message: str
    fingerprint: str
    poison_pill: bool
    recurring: bool
    total_cost_usd: float
    dead_lettered_at: datetime
    escalated_at: datetime | None
    resolution: Decision | None
    resolved_by: str | None
    resolved_at: datetime | None
    note: str | None


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A letter with the failed attempts of its task and everything decided about it, in order."""

    letter: DeadLetter
    failures: tuple[AttemptFailure, ...]
    decisions: tuple[Decided, ...]
