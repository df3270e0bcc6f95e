"""The table: every pair of actions, what they race for, and every outcome that may come of it.

Each outcome is how the tasks stand afterwards, what the first actor got, and what
the second got. Nothing else may happen.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from tests.races.actions import (
    CANCEL,
    CLAIM,
    COMPLETE,
    FAIL,
    HAND_BACK,
    PUT_OFF,
    REAP,
    RENEW,
    RETRY,
    ROLL_UP,
    TIME_OUT,
)
from tests.races.arena import Act, Gate
from tests.races.scenes import (
    ALONE,
    Scene,
    failed,
    lapsed,
    last_child,
    last_child_after_a_failure,
    last_child_lapsed,
    last_child_of_inner_batch,
    last_child_superseded,
    last_child_twice,
    next_in_lane,
    queued,
    running,
    stale,
    superseded,
)


class Outcome(NamedTuple):
    """How the tasks of a round stand, and what the two actors got."""

    standing: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Race:
    """Two actions at one task, and what may come of them."""

    first: Act
    second: Act
    scene: Scene
    allowed: frozenset[Outcome]

    @property
    def name(self) -> str:
        """What a test of it is called."""
        return f"{self.first.name} and {self.second.name}: {self.scene.name}"

    @property
    def gates(self) -> tuple[Gate, ...]:
        """Where its actors wait: a claim skips a locked row, so at the row it would only see the keeper."""
        return (Gate.TABLE, Gate.TURNS) if CLAIM in (self.first, self.second) else (Gate.ROW, Gate.TABLE, Gate.TURNS)


def _race(first: Act, second: Act, scene: Scene, *allowed: tuple[str, str, str]) -> Race:
    return Race(first, second, scene, frozenset(Outcome(*one) for one in allowed))


RACES: Final = (
    # Two claims: one gets the attempt.
    _race(CLAIM, CLAIM, queued(), ("RUNNING", "the attempt", "nothing"), ("RUNNING", "nothing", "the attempt")),
    _race(
        CLAIM,
        CLAIM,
        queued(**ALONE),
        ("RUNNING", "the attempt", "nothing"),
        ("RUNNING", "nothing", "the attempt"),
    ),
    # A claim passes over a row that is locked at that moment; its hint then is the sweeper's to repeat.
    _race(
        CLAIM,
        COMPLETE,
        stale("second"),
        ("RUNNING after crash", "the attempt", "fenced"),
        ("RETRYING after crash", "nothing", "fenced"),
    ),
    _race(
        CLAIM,
        COMPLETE,
        stale("second", **ALONE),
        ("RUNNING after crash", "the attempt", "fenced"),
        ("RETRYING after crash", "nothing", "fenced"),
    ),
    _race(
        CLAIM,
        COMPLETE,
        next_in_lane("second"),
        ("COMPLETED of second, RUNNING", "the attempt", "COMPLETED"),
        ("COMPLETED of second, QUEUED", "nothing", "COMPLETED"),
    ),
    _race(
        CLAIM,
        FAIL,
        stale("second"),
        ("RUNNING after crash", "the attempt", "fenced"),
        ("RETRYING after crash", "nothing", "fenced"),
    ),
    _race(
        CLAIM,
        TIME_OUT,
        stale("second"),
        ("RUNNING after crash", "the attempt", "fenced"),
        ("RETRYING after crash", "nothing", "fenced"),
    ),
    _race(
        CLAIM,
        CANCEL,
        queued(),
        ("RUNNING, asked to stop", "the attempt", "accepted"),
        ("CANCELLED", "nothing", "accepted"),
    ),
    _race(
        CLAIM,
        CANCEL,
        queued(**ALONE),
        ("RUNNING, asked to stop", "the attempt", "accepted"),
        ("CANCELLED", "nothing", "accepted"),
    ),
    _race(
        CLAIM,
        RETRY,
        failed(),
        ("RUNNING after error", "the attempt", "accepted"),
        ("QUEUED after error", "nothing", "accepted"),
    ),
    _race(
        CLAIM,
        REAP,
        lapsed(),
        ("RUNNING after crash", "the attempt", "done"),
        ("RETRYING after crash", "nothing", "done"),
    ),
    _race(
        CLAIM,
        ROLL_UP,
        last_child_of_inner_batch("second"),
        ("RUNNING, COMPLETED, COMPLETED of second, RUNNING", "the attempt", "COMPLETED"),
        ("RUNNING, COMPLETED, COMPLETED of second, QUEUED", "nothing", "COMPLETED"),
    ),
    # Two ends of one task: a stale one is fenced whatever it says; a doubled one hears what stands.
    _race(COMPLETE, COMPLETE, superseded(), ("COMPLETED of second after crash", "fenced", "COMPLETED")),
    _race(
        COMPLETE,
        COMPLETE,
        running("first", "second"),
        ("COMPLETED of first", "COMPLETED", "COMPLETED"),
        ("COMPLETED of second", "COMPLETED", "COMPLETED"),
    ),
    _race(COMPLETE, FAIL, superseded(), ("RETRYING after crash and error", "fenced", "RETRYING")),
    _race(
        COMPLETE,
        FAIL,
        running("first", "second"),
        ("COMPLETED of first", "COMPLETED", "COMPLETED"),
        ("RETRYING after error", "RETRYING", "RETRYING"),
    ),
    _race(FAIL, COMPLETE, superseded(), ("COMPLETED of second after crash", "fenced", "COMPLETED")),
    _race(COMPLETE, TIME_OUT, superseded(), ("RETRYING after crash and timeout", "fenced", "RETRYING")),
    _race(TIME_OUT, COMPLETE, superseded(), ("COMPLETED of second after crash", "fenced", "COMPLETED")),
    _race(
        COMPLETE,
        CANCEL,
        running("first"),
        ("COMPLETED of first", "COMPLETED", "refused"),
        ("CANCELLED", "CANCELLED", "accepted"),
    ),
    _race(COMPLETE, RETRY, running("first"), ("COMPLETED of first", "COMPLETED", "refused")),
    _race(COMPLETE, RETRY, stale("first", max_retries=0), ("QUEUED after crash", "fenced", "accepted")),
    _race(
        COMPLETE,
        REAP,
        lapsed("first"),
        ("COMPLETED of first", "COMPLETED", "done"),
        ("RETRYING after crash", "fenced", "done"),
    ),
    _race(
        COMPLETE,
        ROLL_UP,
        last_child_superseded(),
        ("COMPLETED, COMPLETED, COMPLETED of second after crash", "fenced", "COMPLETED"),
    ),
    _race(FAIL, FAIL, superseded(), ("RETRYING after crash and error", "fenced", "RETRYING")),
    _race(FAIL, FAIL, running("first", "second"), ("RETRYING after error", "RETRYING", "RETRYING")),
    _race(FAIL, TIME_OUT, superseded(), ("RETRYING after crash and timeout", "fenced", "RETRYING")),
    _race(TIME_OUT, FAIL, superseded(), ("RETRYING after crash and error", "fenced", "RETRYING")),
    # What fails with retries left can be cancelled before or after; without, only before.
    _race(
        FAIL,
        CANCEL,
        running("first"),
        ("CANCELLED after error", "RETRYING", "accepted"),
        ("CANCELLED", "CANCELLED", "accepted"),
    ),
    _race(
        FAIL,
        CANCEL,
        running("first", max_retries=0),
        ("FAILED after error", "FAILED", "refused"),
        ("CANCELLED", "CANCELLED", "accepted"),
    ),
    _race(
        FAIL,
        RETRY,
        running("first", max_retries=0),
        ("QUEUED after error", "FAILED", "accepted"),
        ("FAILED after error", "FAILED", "refused"),
    ),
    _race(
        FAIL,
        REAP,
        lapsed("first"),
        ("RETRYING after error", "RETRYING", "done"),
        ("RETRYING after crash", "fenced", "done"),
    ),
    _race(
        FAIL,
        ROLL_UP,
        last_child_superseded(),
        ("COMPLETED, COMPLETED, COMPLETED of second after crash", "fenced", "COMPLETED"),
    ),
    # Cancelling twice: what waits is cancelled once, what runs may be asked again.
    _race(CANCEL, CANCEL, queued(), ("CANCELLED", "accepted", "refused"), ("CANCELLED", "refused", "accepted")),
    _race(CANCEL, CANCEL, running("first"), ("RUNNING, asked to stop", "accepted", "accepted")),
    _race(
        CANCEL,
        RETRY,
        failed(),
        ("CANCELLED after error", "accepted", "accepted"),
        ("QUEUED after error", "refused", "accepted"),
    ),
    # A row that moves under the reaper's statement waits for the chore's next round.
    _race(
        CANCEL,
        REAP,
        lapsed(),
        ("CANCELLED", "accepted", "done"),
        ("CANCELLED after crash", "accepted", "done"),
        ("RUNNING, asked to stop", "accepted", "done"),
    ),
    _race(
        CANCEL,
        TIME_OUT,
        running("second", max_retries=0),
        ("TIMEOUT after timeout", "refused", "TIMEOUT"),
        ("CANCELLED", "accepted", "CANCELLED"),
    ),
    _race(
        CANCEL,
        ROLL_UP,
        last_child("second"),
        ("COMPLETED, COMPLETED, COMPLETED of second", "refused", "COMPLETED"),
        ("CANCELLED, COMPLETED, CANCELLED", "accepted", "CANCELLED"),
    ),
    _race(
        RETRY,
        RETRY,
        failed(),
        ("QUEUED after error", "accepted", "refused"),
        ("QUEUED after error", "refused", "accepted"),
    ),
    _race(
        RETRY,
        REAP,
        lapsed(max_retries=0),
        ("FAILED after crash", "refused", "done"),
        ("QUEUED after crash", "accepted", "done"),
    ),
    _race(
        RETRY,
        TIME_OUT,
        running("second", max_retries=0),
        ("QUEUED after timeout", "accepted", "TIMEOUT"),
        ("TIMEOUT after timeout", "refused", "TIMEOUT"),
    ),
    _race(
        RETRY,
        ROLL_UP,
        last_child_after_a_failure("second"),
        ("RUNNING, QUEUED after error, COMPLETED of second", "accepted", "COMPLETED"),
    ),
    _race(REAP, REAP, lapsed(), ("RETRYING after crash", "done", "done")),
    _race(
        REAP,
        TIME_OUT,
        lapsed("second"),
        ("RETRYING after timeout", "done", "RETRYING"),
        ("RETRYING after crash", "done", "fenced"),
    ),
    _race(
        REAP,
        ROLL_UP,
        last_child_lapsed("second"),
        ("COMPLETED, COMPLETED, COMPLETED of second", "done", "COMPLETED"),
        ("RUNNING, COMPLETED, RETRYING after crash", "done", "fenced"),
    ),
    _race(TIME_OUT, TIME_OUT, superseded(), ("RETRYING after crash and timeout", "fenced", "RETRYING")),
    _race(
        TIME_OUT,
        ROLL_UP,
        last_child_superseded(),
        ("COMPLETED, COMPLETED, COMPLETED of second after crash", "fenced", "COMPLETED"),
    ),
    _race(
        ROLL_UP,
        ROLL_UP,
        last_child_superseded(),
        ("COMPLETED, COMPLETED, COMPLETED of second after crash", "fenced", "COMPLETED"),
    ),
    _race(
        ROLL_UP,
        ROLL_UP,
        last_child_twice(),
        ("COMPLETED, COMPLETED, COMPLETED of first", "COMPLETED", "COMPLETED"),
        ("COMPLETED, COMPLETED, COMPLETED of second", "COMPLETED", "COMPLETED"),
    ),
    # What else happens to an attempt: it is handed back by a worker that drains, its lease is renewed.
    _race(
        HAND_BACK,
        CANCEL,
        running("first"),
        ("CANCELLED", "QUEUED", "accepted"),
        ("CANCELLED", "CANCELLED", "accepted"),
    ),
    _race(
        HAND_BACK,
        REAP,
        lapsed("first"),
        ("QUEUED", "QUEUED", "done"),
        ("RETRYING after crash", "fenced", "done"),
    ),
    # A renewal passes over a locked row: of the loss it then hears with the next one.
    _race(
        RENEW,
        REAP,
        lapsed("first"),
        ("RUNNING", "no loss", "done"),
        ("RETRYING after crash", "no loss", "done"),
        ("RETRYING after crash", "a loss", "done"),
    ),
    _race(
        RENEW,
        COMPLETE,
        running("first", "second"),
        ("COMPLETED of second", "no loss", "COMPLETED"),
        ("COMPLETED of second", "a loss", "COMPLETED"),
    ),
    # A change of what waits: whoever claims it is waited for, and then it is too late.
    _race(CLAIM, PUT_OFF, queued(), ("RUNNING", "the attempt", "refused"), ("PENDING", "nothing", "accepted")),
    _race(
        CLAIM,
        PUT_OFF,
        queued(**ALONE),
        ("RUNNING", "the attempt", "refused"),
        ("PENDING", "nothing", "accepted"),
    ),
    _race(
        CANCEL,
        PUT_OFF,
        queued(),
        ("CANCELLED", "accepted", "refused"),
        ("CANCELLED", "accepted", "accepted"),
    ),
    _race(
        RETRY,
        PUT_OFF,
        failed(),
        ("QUEUED after error", "accepted", "refused"),
        ("PENDING after error", "accepted", "accepted"),
    ),
    _race(COMPLETE, PUT_OFF, running("first"), ("COMPLETED of first", "COMPLETED", "refused")),
)
