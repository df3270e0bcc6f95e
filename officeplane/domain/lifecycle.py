"""The states of a task and every way from one to another: the only source.

Python asks this table, SQL is bound to its sets of states when it is loaded,
`docs/lifecycle.md` is drawn from it and the tests quantify over it.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class TaskState(StrEnum):
    """Where a task is in its life."""

    PENDING = "PENDING"
    QUEUED = "QUEUED"
    CLAIMED = "CLAIMED"
    RUNNING = "RUNNING"
    VALIDATING = "VALIDATING"
    RETRYING = "RETRYING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    CANCELLED = "CANCELLED"


# By what the ledger stores: calling the class is five times slower.
STATES: Final = {str(state): state for state in TaskState}

_S = TaskState

CLAIMABLE: Final = (_S.QUEUED, _S.RETRYING)
WAITING: Final = (_S.PENDING, _S.QUEUED, _S.RETRYING)
ACTIVE: Final = (_S.CLAIMED, _S.RUNNING, _S.VALIDATING)
SETTLEABLE: Final = (_S.RUNNING, _S.VALIDATING)
RESERVED: Final = (_S.CLAIMED,)
LET_GO: Final = (_S.QUEUED, _S.CANCELLED)
"""What a claim that has not started can end as."""
FINAL: Final = (_S.COMPLETED, _S.FAILED, _S.TIMEOUT, _S.CANCELLED)
GAVE_UP: Final = (_S.FAILED, _S.TIMEOUT)
REOPENABLE: Final = (_S.FAILED, _S.TIMEOUT, _S.CANCELLED)
NOT_BEGUN: Final = (_S.PENDING, _S.QUEUED)
UNFINISHED: Final = (*WAITING, *ACTIVE)

STATE_SETS: Final = {
    "claimable": CLAIMABLE,
    "waiting": WAITING,
    "active": ACTIVE,
    "settleable": SETTLEABLE,
    "reserved": RESERVED,
    "let_go": LET_GO,
    "final": FINAL,
    "gave_up": GAVE_UP,
    "reopenable": REOPENABLE,
    "not_begun": NOT_BEGUN,
    "unfinished": UNFINISHED,
}

MEANINGS: Final = {
    _S.PENDING: "waits for an earlier sibling, a dependency, a task it has spawned or its `runAt`",
    _S.QUEUED: "may run; its id is on its tier's list",
    _S.CLAIMED: "somebody holds it and its document and has not started",
    _S.RUNNING: "leased to one worker; for a parent: its children have begun",
    _S.VALIDATING: "its output is being checked; it still occupies its document",
    _S.RETRYING: "waits for its back-off; claimable as soon as it is due",
    _S.COMPLETED: "its result is committed",
    _S.FAILED: "gave up: a permanent failure, or no retries left",
    _S.TIMEOUT: "gave up: the last attempt ran out of time",
    _S.CANCELLED: "ended by a user, or with its parent or batch",
}


@dataclass(frozen=True, slots=True)
class Transition:
    """One named way from some states to another, and who takes it when."""

    signal: str
    sources: tuple[TaskState, ...]
    target: TaskState
    moved_by: str
    when: str


TRANSITIONS: Final = (
    Transition("become_ready", (_S.PENDING,), _S.QUEUED, "promoter, settlement", "nothing it waits for is left"),
    Transition("bring_forward", (_S.PENDING,), _S.QUEUED, "API", "its `runAt` is moved to now"),
    Transition("put_off", (_S.QUEUED,), _S.PENDING, "API", "its `runAt` is moved ahead"),
    Transition("claim", CLAIMABLE, _S.RUNNING, "worker", "it heads its lane and is due"),
    Transition("reserve", CLAIMABLE, _S.CLAIMED, "claimant", "the same, by somebody who starts later"),
    Transition("take_up", CLAIMABLE, _S.RUNNING, "agent", "its lease ran out, and its result comes after all"),
    Transition("start", RESERVED, _S.RUNNING, "claimant", "the work begins"),
    Transition("validate", (_S.RUNNING,), _S.VALIDATING, "claimant", "its output is to be checked before it counts"),
    Transition("begin_batch", NOT_BEGUN, _S.RUNNING, "worker", "the first of its children is claimed"),
    Transition("complete", SETTLEABLE, _S.COMPLETED, "settlement", "the attempt succeeded, or all children did"),
    Transition("complete_within", (_S.PENDING,), _S.COMPLETED, "settlement", "its atomic batch succeeded"),
    Transition(
        "retry_later",
        SETTLEABLE,
        _S.RETRYING,
        "settlement, reaper",
        "the attempt failed and retries are left, or an agent gave it back until later",
    ),
    Transition("fail", (*NOT_BEGUN, *SETTLEABLE), _S.FAILED, "settlement, reaper", "no retry may follow"),
    Transition("time_out", SETTLEABLE, _S.TIMEOUT, "settlement", "the last attempt ran out of time"),
    Transition(
        "hand_back",
        (*RESERVED, *SETTLEABLE),
        _S.QUEUED,
        "worker, reaper",
        "it must stop before the attempt can end, or never started",
    ),
    Transition("wait", (_S.RUNNING,), _S.PENDING, "settlement", "its handler waits for a task that it has spawned"),
    Transition(
        "cancel",
        UNFINISHED,
        _S.CANCELLED,
        "API, settlement, reaper",
        "asked for; if a worker runs it, when it ends; what an agent has, at once",
    ),
    Transition("reopen", REOPENABLE, _S.QUEUED, "API", "an explicit retry; a new generation"),
    Transition("reopen_blocked", REOPENABLE, _S.PENDING, "API", "the same, behind an earlier sibling or a dependency"),
    Transition("reopen_batch", (_S.FAILED, _S.CANCELLED), _S.RUNNING, "API", "one of its children is retried"),
)


def sources_of(signal: str) -> frozenset[TaskState]:
    """Return the states in which this signal is heard; in any other it is refused."""
    return frozenset(state for way in TRANSITIONS if way.signal == signal for state in way.sources)


def is_legal(source: TaskState, target: TaskState) -> bool:
    """Tell whether some signal leads from one state to the other."""
    return any(source in way.sources and target is way.target for way in TRANSITIONS)
