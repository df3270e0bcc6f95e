"""The remainder of a settlement: what its statement gave no row for, although the claim may stand."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from officeplane.domain.outcome import Verdict
from officeplane.store import settlements
from officeplane.store.connection import Executor
from officeplane.store.settlements import Settled


class Ends(NamedTuple):
    """What is ended now, and what had been before although its worker never heard of it: that leads to nothing more."""

    now: list[Settled]
    before: list[Settled]


async def with_the_rest(
    executor: Executor,
    rows: list[Settled],
    verdicts: Sequence[Verdict],
    settle: Callable[[Sequence[Verdict]], Awaitable[list[Settled]]],
    *,
    awaited: bool,
) -> Ends:
    """Add what gave no row and is not lost, nor `awaited` by others, unless that is allowed for."""
    # A row that moved under the statement's snapshot (a renewed lease) is not lost:
    # it is settled in a second statement. One that a lost connection's commit
    # did settle, before the caller tried again, is already as it should be.
    seen = {row.task_id for row in rows}
    missing = [verdict for verdict in verdicts if verdict.task_id not in seen]
    standing = await settlements.standing(executor, [(v.task_id, v.claim_id) for v in missing])
    before = [stand.settled for stand in standing.values() if not stand.is_open]
    again = [
        verdict
        for verdict in missing
        if (stand := standing.get(verdict.task_id)) is not None
        and stand.may_end_as(verdict.state)
        and (awaited or not stand.settled.has_dependents)
    ]
    found = await settle(again) if again else []
    if len(found) == len(again):
        return Ends(rows + found, before)
    ends = await with_the_rest(executor, found, again, settle, awaited=awaited)
    return Ends(rows + ends.now, before + ends.before)
