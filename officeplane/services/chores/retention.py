"""Retention: what ended long ago is removed, a window at a time."""

from dataclasses import dataclass
from typing import Final

import structlog

from officeplane.services.chores.pieces import collect
from officeplane.store import agent_claims, chores, dags, dead_letters, documents, events, observations, workers
from officeplane.store.connection import Ledger

DAY_SECONDS: Final = 86_400.0
KEY_SECONDS: Final = DAY_SECONDS
EVENT_SECONDS: Final = DAY_SECONDS
LATE_SECONDS: Final = 7 * DAY_SECONDS
"""How long results of agents are kept that came too late to count."""
UPLOAD_SECONDS: Final = DAY_SECONDS
UNDECIDED_SECONDS: Final = 365 * DAY_SECONDS
"""How long a dead letter waits for somebody to decide."""
SILENT_SECONDS: Final = 3_600.0
LOGIN_SECONDS: Final = DAY_SECONDS
"""How long sessions and login links are kept after their end."""
TASKS_AT_ONCE: Final = 1_000
DEEDS_AT_ONCE: Final = 1_000
EVENTS_AT_ONCE: Final = 5_000
_log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True)
class Retention:
    """Removes old tasks, keys, events, workers, uploads and sessions; tasks whose key still lives stay."""

    ledger: Ledger
    completed_days: float
    failed_days: float
    audit_days: float
    _after_seq: int = 0

    async def prune(self) -> bool:
        """Remove one window of each; return whether there is more to look at."""
        keys = await chores.expire_keys(self.ledger, after_seconds=KEY_SECONDS)
        until, removed = await chores.prune(
            self.ledger,
            after_seq=self._after_seq,
            completed_seconds=self.completed_days * DAY_SECONDS,
            failed_seconds=self.failed_days * DAY_SECONDS,
            limit=TASKS_AT_ONCE,
        )
        # Past the last old task the next round begins with the oldest again.
        self._after_seq = until or 0
        gone = await events.prune(self.ledger, older_than_seconds=EVENT_SECONDS, limit=EVENTS_AT_ONCE)
        forgotten = await workers.forget(self.ledger, SILENT_SECONDS)
        await observations.fold(self.ledger)
        await dags.prune(self.ledger, limit=TASKS_AT_ONCE)
        await agent_claims.prune(self.ledger, late_seconds=LATE_SECONDS, key_seconds=KEY_SECONDS, limit=TASKS_AT_ONCE)
        placed = await documents.prune_uploads(self.ledger, UPLOAD_SECONDS)
        placed += await collect(self.ledger, UPLOAD_SECONDS)
        failed_seconds = self.failed_days * DAY_SECONDS
        await documents.forget_deleted(self.ledger, failed_seconds, limit=TASKS_AT_ONCE)
        await dead_letters.expire(self.ledger, failed_seconds, UNDECIDED_SECONDS, limit=TASKS_AT_ONCE)
        deeds = await chores.prune_callers(
            self.ledger,
            login_seconds=LOGIN_SECONDS,
            audit_seconds=self.audit_days * DAY_SECONDS,
            limit=DEEDS_AT_ONCE,
        )
        if removed or keys or gone or forgotten or placed or deeds:
            _log.info(
                "retention.pruned",
                tasks=removed,
                keys=keys,
                events=gone,
                workers=forgotten,
                uploads=placed,
                deeds=deeds,
            )
        return until is not None or gone == EVENTS_AT_ONCE or deeds == DEEDS_AT_ONCE
