"""The sweep's cases: every point for every kind of task, and the reasons why some never meet."""

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from officeplane.failpoints import POINTS


class Kind(StrEnum):
    """What the task is that a process crashes over; all but the plain one are in a document's lane."""

    PLAIN = "plain"
    DOCUMENT = "document"
    CHILD = "batch child"
    RETRY = "retry"
    CANCELLED = "cancelled while running"
    POLLED = "claimed by polling"
    EDIT = "edit of a document"
    AWAITED = "others depend on it"


POINTS_OF_CANCELLATION: Final = frozenset({"cancel_written", "after_cancel"})
API_POINTS: Final = frozenset({"after_insert", "after_ring", *POINTS_OF_CANCELLATION, "after_reopen"})

_NO_DOCUMENT: Final = "a task without a document has no lane and no lock"
_NO_REDIS: Final = "without Redis nothing is popped, locked or swept"
_ONE_STATEMENT: Final = "what ends well, and is neither in a batch nor waited for, is settled by one statement"
_NOBODY_WAITS: Final = "nothing depends on it"

# What fails, or was cancelled while it ran, is ended in a transaction; so is what others wait for.
_NOT_ALONE: Final = frozenset({Kind.CANCELLED, Kind.AWAITED})

UNREACHABLE: Final = {
    **{
        (point, Kind.PLAIN): _NO_DOCUMENT
        for point in ("before_continue", "after_continue", "before_release", "after_release", "orphan_released")
    },
    **{
        (point, Kind.POLLED): _NO_REDIS
        for point in (
            "after_pop", "before_release", "after_release", "sweep_marked", "orphan_released",
        )
    },
    **{
        (point, kind): _ONE_STATEMENT
        for point in ("between_settle_and_roll_up", "before_commit")
        for kind in Kind
        if kind is not Kind.CHILD and (point != "before_commit" or kind not in _NOT_ALONE)
    },
    **{
        ("between_settle_and_release", kind): _NOBODY_WAITS
        for kind in Kind
        if kind not in {Kind.AWAITED, Kind.CANCELLED}
    },
    ("handler_end", Kind.CANCELLED): "a handler that is cancelled does not return",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """One crash, or one loss of the database again and again: where, and over what."""

    point: str
    kind: Kind
    action: str = "crash"
    others: tuple[str, ...] = ()
    """Further points that such a task never comes by: one run shows it of all."""

    @property
    def points(self) -> tuple[str, ...]:
        """Everywhere that it is about."""
        return (self.point, *self.others)

    @property
    def name(self) -> str:
        """What its test is called."""
        return f"{self.point if self.is_reachable else 'never_met'}-{self.kind.name.lower()}"

    @property
    def failpoint(self) -> str:
        """What a process is armed with."""
        return ",".join(f"{point}={self.action}" for point in self.points)

    @property
    def is_reachable(self) -> bool:
        """Whether such a task ever comes by that point."""
        return (self.point, self.kind) not in UNREACHABLE


def _never_met(kind: Kind) -> Case:
    first, *others = [point for point in POINTS if (point, kind) in UNREACHABLE]
    return Case(first, kind, others=tuple(others))


CASES: Final = (
    *(Case(point, kind) for point in POINTS for kind in Kind if (point, kind) not in UNREACHABLE),
    *map(_never_met, Kind),
)
# Of the kinds those that settle more than one row, unless asked for all of them.
_LOSERS: Final = tuple(Kind) if os.environ.get("PROVE_SWEEP") == "all" else (Kind.CHILD, Kind.AWAITED)
# Nobody asks the database between the decision to leave a lane and the release of its lock.
_NOT_ASKED: Final = frozenset({*API_POINTS, "before_release"})

LOSSES: Final = tuple(
    # Half of the time the database is gone there, as far as the process can tell.
    Case(point, kind, "raise@0.5")
    for point in POINTS
    for kind in _LOSERS
    if point not in _NOT_ASKED and (point, kind) not in UNREACHABLE
)
