"""Alerting: what is in the outbox is POSTed to an address of the installation's, at least once.

Alerts are taken for a while, sent outside of any transaction, and removed
when they were answered. Whoever crashes in between leaves them to be taken
again; a receiver that must not act twice goes by their ids.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

import httpx
import structlog

from officeplane.domain.alert import SHOWN_LENGTH, Alert, summary
from officeplane.store import alerts
from officeplane.store.connection import Ledger

ALERTS_AT_ONCE: Final = 100
ANSWER_SECONDS: Final = 10.0
# Longer than a POST may take: until then nobody else sends the same.
TAKEN_SECONDS: Final = 30.0
GIVE_UP_SECONDS: Final = 86_400.0
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Alerting:
    """Sends alerts; without an address there are none."""

    ledger: Ledger
    url: str

    async def send(self) -> bool:
        """Send what is due and return whether there may be more."""
        await self._give_up()
        if not self.url:
            return False
        taken = await alerts.take(self.ledger, limit=ALERTS_AT_ONCE, for_seconds=TAKEN_SECONDS)
        if not taken:
            return False
        trouble = await self._post(taken)
        if trouble is None:
            await alerts.forget(self.ledger, taken)
            _log.info("alert.sent", alerts=len(taken))
        else:
            await alerts.postpone(self.ledger, taken)
            _log.warning("alert.not_sent", alerts=len(taken), tries=max(alert.tries for alert in taken), error=trouble)
        return len(taken) == ALERTS_AT_ONCE

    async def _give_up(self) -> None:
        lost = await alerts.give_up(
            self.ledger,
            after_seconds=GIVE_UP_SECONDS,
            # What was never tried because nobody worked is not old; without an address nothing ever is.
            tries=1 if self.url else 0,
            limit=ALERTS_AT_ONCE,
        )
        for task_id in lost:
            _log.error("alert.given_up", task_id=task_id)

    async def _post(self, taken: Sequence[Alert]) -> str | None:
        """Return None when they were answered, and else what went wrong; the address may hold secrets."""
        try:
            async with (
                asyncio.timeout(ANSWER_SECONDS),
                # A proxy for the outside world cannot know this machine's own ports.
                httpx.AsyncClient(timeout=None, trust_env=urlsplit(self.url).hostname not in LOOPBACK) as client,  # noqa: S113
                client.stream("POST", self.url, content=_body(taken), headers=_HEADERS) as response,
            ):
                # What it says besides is nobody's business.
                return None if response.is_success else f"answered {response.status_code}"
        except TimeoutError:
            return f"no answer within {ANSWER_SECONDS:g} s"
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return type(error).__name__


_HEADERS: Final = {"Content-Type": "application/json", "User-Agent": "officeplane"}


def _body(taken: Sequence[Alert]) -> str:
    return json.dumps({"text": summary(taken), "alerts": [_alert(alert) for alert in taken]})


def _alert(alert: Alert) -> dict[str, object]:
    letter = alert.letter
    return {
        "id": str(alert.id),
        "reason": alert.reason,
        "taskId": letter.task_id,
        "generation": letter.generation,
        "taskType": letter.task_type,
        "documentId": letter.document_id,
        "dagId": letter.dag_id,
        "error": {"kind": letter.kind, "message": letter.message[:SHOWN_LENGTH]},
        "fingerprint": letter.fingerprint,
        "poisonPill": letter.poison_pill,
        "recurring": letter.recurring,
        "totalCostUsd": letter.total_cost_usd,
        "deadLetteredAt": _time(letter.dead_lettered_at),
        "note": letter.note,
    }


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
