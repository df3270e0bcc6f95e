"""What alerts look like: receivers have learnt to read them."""

from officeplane.domain.alert import AgentAlert, Alert
from officeplane.domain.ids import AgentId
from officeplane.services.chores.alerts import body_of
from tests.domain.test_alert import an_alert


def test_a_body_is_what_receivers_know_to_the_letter() -> None:
    assert body_of([an_alert(), Alert(2, "escalated", an_alert("é").letter)]) == (
        '{"text": "1 task gave up, 1 task escalated:\\n2 \\u00d7 noop, error: \\u00e9 [c1]", "alerts": ['
        '{"id": "1", "reason": "dead_lettered", "taskId": "0192f000-0000-7000-8000-000000000001", "generation": 1, '
        '"taskType": "noop", "documentId": null, "dagId": null, "error": {"kind": "error", "message": "it broke"}, '
        '"fingerprint": "c1", "poisonPill": false, "recurring": false, "totalCostUsd": 0, '
        '"deadLetteredAt": "2030-01-01T00:00:00.000Z", "note": null}, '
        '{"id": "2", "reason": "escalated", "taskId": "0192f000-0000-7000-8000-000000000001", "generation": 1, '
        '"taskType": "noop", "documentId": null, "dagId": null, "error": {"kind": "error", "message": "\\u00e9"}, '
        '"fingerprint": "c1", "poisonPill": false, "recurring": false, "totalCostUsd": 0, '
        '"deadLetteredAt": "2030-01-01T00:00:00.000Z", "note": null}]}'
    )


def test_of_an_agent_it_is_said_that_it_was_paused() -> None:
    assert body_of([AgentAlert(3, AgentId("acme/reader"))]) == (
        '{"text": "Agent acme/reader was paused: its last claims all ran out.", "alerts": ['
        '{"id": "3", "reason": "agent_paused", "agentId": "acme/reader"}]}'
    )
