"""Lapses: an agent that lets one claim after the other run out is paused, until somebody has looked."""

from collections.abc import Sequence

import structlog

from officeplane.store import agent_claims
from officeplane.store.agent_claims import agent_in
from officeplane.store.connection import Ledger
from officeplane.store.settlements import LapsedClaim

_log = structlog.stdlib.get_logger(__name__)


async def count_lapses(ledger: Ledger, reaped: Sequence[LapsedClaim], *, alerts: bool) -> None:
    """Count the claims that agents have let run out, and pause those that have done nothing else for ten claims.

    It comes after the settlement: a claim locks its agent before it locks tasks. An attempt that took too
    long is no lapse, for its agent may have been there all the time.
    """
    lapsed = [
        (agent_id, one.task.id)
        for one in reaped
        if (agent_id := agent_in(one.worker_id)) is not None and not (one.handler_started and one.took_too_long)
    ]
    if lapsed:
        for agent_id in await agent_claims.count_lapses(ledger, lapsed, alerts=alerts):
            _log.warning("agent.paused", agent_id=agent_id, why="its last claims all ran out")
