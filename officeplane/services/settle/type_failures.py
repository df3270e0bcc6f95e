"""Type failures: what failed attempts do to the valves of their types, in the settlement that ends them."""

from collections.abc import Collection, Mapping, Sequence

import structlog

from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import TaskState
from officeplane.domain.outcome import RetryRules
from officeplane.domain.space import QualifiedType, bare, space_of
from officeplane.domain.valve import TypeFailure
from officeplane.store import valves
from officeplane.store.connection import Executor
from officeplane.store.settlements import Settled

_log = structlog.stdlib.get_logger(__name__)


async def count_type_failures(
    executor: Executor,
    failures: Mapping[TaskId, TypeFailure],
    settled: Sequence[Settled],
    succeeded: Collection[QualifiedType],
    rules: RetryRules,
) -> None:
    """Slow types down that were told to wait, and count failures in a row of the others.

    A success in the same group may have been the last to end: its type's failures are not counted.
    """
    counted = [
        (row.task_id, failures[row.task_id])
        for row in settled
        if row.task_id in failures and row.state is not TaskState.CANCELLED
    ]
    slow = [(one.task_type, one.slow_seconds) for _, one in counted if one.slow_seconds is not None]
    failed = [(task_id, one) for task_id, one in counted if one.slow_seconds is None and one.task_type not in succeeded]
    if slow:
        await valves.slow_down(executor, slow)
    if failed:
        opened = await valves.count_failures(
            executor,
            failed,
            failure_threshold=rules.failure_threshold,
            half_open_after_seconds=rules.half_open_after_seconds,
        )
        for task_type in opened:
            _log.warning("breaker.opened", task_type=bare(task_type), space=space_of(task_type))
