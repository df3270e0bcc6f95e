"""Alerts: what `ALERT_URL` is sent of the dead letters, and the agents, that deliveries are about."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from officeplane.domain.alert import SHOWN_LENGTH, AgentAlert, Alert, summary
from officeplane.domain.delivery import Delivery
from officeplane.domain.ids import AgentId, TaskId
from officeplane.store import dead_letters
from officeplane.store.connection import Executor


async def alerts_of(executor: Executor, deliveries: Sequence[Delivery]) -> list[Alert | AgentAlert]:
    """Return what deliveries tell, of letters as they are now; of a letter that is gone there is nothing to tell."""
    agents = [delivery for delivery in deliveries if "agentId" in delivery.body]
    of_letters = [delivery for delivery in deliveries if "agentId" not in delivery.body]
    generations = [(TaskId(delivery.body["taskId"]), int(delivery.body["generation"])) for delivery in of_letters]
    letters = await dead_letters.of_generations(executor, generations)
    found = [
        Alert(delivery.id, delivery.body["reason"], letters[generation])
        for delivery, generation in zip(of_letters, generations, strict=True)
        if generation in letters
    ]
    return [*(AgentAlert(delivery.id, AgentId(delivery.body["agentId"])) for delivery in agents), *found]


def body_of(alerts: Sequence[Alert | AgentAlert]) -> str:
    """Return the body of the POST that tells these alerts."""
    return json.dumps({"text": summary(alerts), "alerts": [_alert(alert) for alert in alerts]})


def _alert(alert: Alert | AgentAlert) -> dict[str, object]:
    if isinstance(alert, AgentAlert):
        return {"id": str(alert.id), "reason": alert.reason, "agentId": alert.agent_id}
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
