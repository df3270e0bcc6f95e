"""Attempts that no ledger knows: each test says with `_replace` what its own has besides."""

from datetime import UTC, datetime

from uuid_utils import uuid7

from officeplane.domain.ids import ClaimId, TaskId
from officeplane.domain.space import DEFAULT
from officeplane.domain.task import ClaimedTask


def a_claimed_task(task_type: str = "noop", *, timeout_seconds: float = 60) -> ClaimedTask:
    """Return an attempt that no ledger knows."""
    task_id, now = TaskId(str(uuid7())), datetime.now(UTC)
    return ClaimedTask(
        id=task_id,
        claim_id=ClaimId(str(uuid7())),
        hold_id=None,
        task_type=task_type,
        space=DEFAULT,
        document_id=None,
        payload_json="{}",
        attempt=1,
        attempts_charged=0,
        crashes=0,
        suspect=False,
        max_retries=3,
        timeout_seconds=timeout_seconds,
        retry_json=None,
        checkpoint_json=None,
        parent_id=None,
        root_id=task_id,
        created_at=now,
        waited_seconds=0.0,
    )
