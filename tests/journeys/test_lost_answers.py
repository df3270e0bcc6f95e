"""A server dies between a commit and its answer: what an agent asked for is done once, and answered by another."""

from typing import Any, Final

import httpx
import pytest

from officeplane.failpoints import CRASH_STATUS
from tests.journeys.conftest import Installation

AGENT: Final = {"capabilities": [], "taskTypes": ["code"], "maxConcurrentTasks": 5}
REPORT: Final[dict[str, Any]] = {"summary": "It worked.", "decisions": []}
ENDS: Final[list[tuple[str, dict[str, Any], str]]] = [
    ("complete", {"result": {"answer": 42}, "decisionReport": REPORT, "costUsd": 0.25}, "COMPLETED"),
    ("fail", {"kind": "permanent", "message": "it cannot be done", "costUsd": 0.25}, "FAILED"),
    ("release", {"reason": "declined", "costUsd": 0.25}, "QUEUED"),
]


@pytest.mark.parametrize("point", ["before_commit", "after_settle"])
@pytest.mark.parametrize(("verb", "body", "state"), ENDS, ids=[verb for verb, _, _ in ENDS])
async def test_a_verb_whose_server_died_is_answered_by_another_as_if_nothing_had_happened(
    deserted: Installation, point: str, verb: str, body: dict[str, Any], state: str
) -> None:
    healthy = deserted.api
    doomed = await deserted.processes.serve(FAILPOINTS=f"{point}=crash")
    # Servers remember what tasks ask for, which nobody but a test removes: so each asks for something of its own.
    capability = f"{verb}-{point}".replace("_", "-")
    await healthy.put("/api/agents/reader", {**AGENT, "capabilities": [capability]})
    task = await healthy.submit("code", payload={"goal": "The tests are green."}, requiredCapabilities=[capability])
    (claim,) = (await healthy.post("/api/agents/reader/claim", {})).json()["claims"]
    path = f"/api/claims/{claim['claimId']}/{verb}"

    with pytest.raises(httpx.TransportError):
        await doomed.post(path, body)
    assert await doomed.process.ended() == CRASH_STATUS
    answers = [await healthy.post(path, body) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200], answers[0].text
    assert answers[0].json() == answers[1].json()
    assert (answers[0].json()["state"], answers[0].json()["late"]) == (state, False)
    shown = await healthy.task(task)
    assert (shown["state"], shown["attempt"], shown["costUsd"]) == (state, 1, 0.25)
    assert len(shown["failures"]) == (1 if verb == "fail" else 0)
