"""Deliveries: what is in the outbox is POSTed to where it is to go, at least once.

They are taken for a while, sent outside of any transaction, and removed when
they were answered. Whoever crashes in between leaves them to be taken again; a
receiver that must not act twice goes by their ids.
"""

import asyncio
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx
import structlog

from officeplane.services.chores.alerts import alerts_of, body_of
from officeplane.store import deliveries
from officeplane.store.connection import Ledger
from officeplane.store.deliveries import ALERTS

ALERTS_AT_ONCE: Final = 100
ANSWER_SECONDS: Final = 10.0
# Longer than a POST may take: until then nobody else sends the same.
TAKEN_SECONDS: Final = 30.0
GIVE_UP_SECONDS: Final = 86_400.0
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Sends what is to be told; without an address there are no alerts."""

    ledger: Ledger
    alert_url: str

    async def send(self) -> bool:
        """Send what is due and return whether there may be more."""
        await self._give_up()
        if not self.alert_url:
            return False
        taken = await deliveries.take(self.ledger, ALERTS, limit=ALERTS_AT_ONCE, for_seconds=TAKEN_SECONDS)
        if not taken:
            return False
        alerts = await alerts_of(self.ledger, taken)
        trouble = await _post(self.alert_url, body_of(alerts)) if alerts else None
        if trouble is None:
            await deliveries.forget(self.ledger, taken)
            _log.info("alert.sent", alerts=len(alerts))
        else:
            await deliveries.postpone(self.ledger, taken)
            _log.warning("alert.not_sent", alerts=len(alerts), tries=max(one.tries for one in taken), error=trouble)
        return len(taken) == ALERTS_AT_ONCE

    async def _give_up(self) -> None:
        lost = await deliveries.give_up(
            self.ledger,
            ALERTS,
            after_seconds=GIVE_UP_SECONDS,
            # What was never tried because nobody worked is not old; without an address nothing ever is.
            tries=1 if self.alert_url else 0,
            limit=ALERTS_AT_ONCE,
        )
        for delivery in lost:
            _log.error("alert.given_up", task_id=delivery.body.get("taskId"), agent_id=delivery.body.get("agentId"))


async def _post(url: str, body: str) -> str | None:
    """Return None when the body was taken, and else what went wrong; the address may hold secrets."""
    try:
        async with (
            asyncio.timeout(ANSWER_SECONDS),
            # A proxy for the outside world cannot know this machine's own ports.
            httpx.AsyncClient(timeout=None, trust_env=urlsplit(url).hostname not in LOOPBACK) as client,  # noqa: S113
            client.stream("POST", url, content=body, headers=_HEADERS) as response,
        ):
            # Only the status of the answer counts; its body is not read.
            return None if response.is_success else f"answered {response.status_code}"
    except TimeoutError:
        return f"no answer within {ANSWER_SECONDS:g} s"
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return type(error).__name__


_HEADERS: Final = {"Content-Type": "application/json", "User-Agent": "officeplane"}
