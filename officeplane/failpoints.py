"""Failpoints: named places at which a test makes a process crash, pause or lose its database.

Inert unless `OFFICEPLANE_FAILPOINTS` arms some, for example
`after_insert=crash,after_pop=pause:2,before_settle=raise@0.1`: an action, its
seconds, its probability. `OFFICEPLANE_FAILPOINTS_SEED` makes the dice repeatable.
"""

import asyncio
import os
import random
import re
from dataclasses import dataclass
from typing import Final

from officeplane.domain.errors import DatabaseUnavailableError

POINTS: Final = {
    "after_insert": "a submission is committed and not yet rung",
    "after_ring": "a submission is rung and not yet answered",
    "after_pop": "hints are off the lists and lead nowhere yet",
    "after_resolve": "hints are resolved, tasks without documents claimed, and no lock is taken",
    "after_lock": "locks are held and nothing is claimed",
    "after_claim": "attempts are claimed and no handler has started",
    "handler_start": "a handler is about to be called",
    "handler_end": "a handler has returned and its outcome is known to nobody",
    "before_settle": "a group of outcomes is about to be written",
    "between_settle_and_roll_up": "inside the transaction, children are settled and their batch is not",
    "between_settle_and_release": "inside the transaction, tasks are settled and what depends on them still waits",
    "before_commit": "inside the transaction, everything is written",
    "after_settle": "a group is committed and nothing is announced or rung",
    "after_ready_rung": "what a settlement made ready is rung",
    "before_continue": "a group is settled and its lanes are still held",
    "after_continue": "lanes' next heads are claimed and not started",
    "before_release": "lanes are about to be left",
    "after_release": "locks are released and the lanes not rung",
    "before_renewal": "leases are about to be extended",
    "cancel_written": "inside the transaction, a cancellation is written",
    "after_cancel": "a cancellation is committed and nobody told",
    "after_reopen": "a retry is committed and not rung",
    "sweep_marked": "work is marked as rung and not rung",
    "orphan_released": "an orphaned lock is released and its lane not rung",
    "reap_read": "lapsed leases are read and not ended",
    "reap_settled": "lapsed attempts are ended and their locks still held",
    "promote_marked": "due work is queued and not rung",
    "hand_back": "hints in hand are about to be given back",
}
CRASH_STATUS: Final = 86

_ITEM: Final = re.compile(
    r"(?P<name>\w+)=(?P<action>crash|pause|raise)(?::(?P<seconds>[\d.]+))?(?:@(?P<chance>[\d.]+))?"
)


@dataclass(frozen=True, slots=True)
class _Failpoint:
    action: str
    seconds: float
    chance: float


_armed: dict[str, _Failpoint] = {}
_dice: random.Random = random.Random()


def arm(text: str, seed: int) -> None:
    """Arm what the text names and disarm everything else; raise `ValueError` for what it does not know."""
    found: dict[str, _Failpoint] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        match = _ITEM.fullmatch(item)
        if match is None or match["name"] not in POINTS:
            message = (
                f"{item!r} is no failpoint; write name=crash|pause:SECONDS|raise, with a name of {sorted(POINTS)}."
            )
            raise ValueError(message)
        found[match["name"]] = _Failpoint(match["action"], float(match["seconds"] or 1), float(match["chance"] or 1))
    _armed.clear()
    _armed.update(found)
    _dice.seed(seed)


async def reach(name: str) -> None:
    """Do here what was armed, if anything."""
    if _armed and name in _armed and _dice.random() < _armed[name].chance:
        await _act(name, _armed[name])


async def _act(name: str, failpoint: _Failpoint) -> None:
    match failpoint.action:
        case "crash":
            os._exit(CRASH_STATUS)
        case "pause":
            await asyncio.sleep(failpoint.seconds)
        case _:
            raise DatabaseUnavailableError(f"failpoint {name}")
