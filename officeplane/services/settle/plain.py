"""Plain ends: attempts that did not fail, are no part of a batch and that nobody waits for.

That is nearly all of them, and one statement ends them, with the revisions they
made. It claims what comes next in their lanes as well, if the caller stays there.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from officeplane.domain.ids import TaskId, WorkerId
from officeplane.domain.outcome import Verdict
from officeplane.domain.revision import Revisions
from officeplane.services.claims.continuation import Continuation
from officeplane.services.settle.aftermath import Aftermath, aftermath_of
from officeplane.services.settle.judgement import Judged
from officeplane.services.settle.remainder import with_the_rest
from officeplane.store import settlements
from officeplane.store.claims import Claimant
from officeplane.store.connection import Ledger
from officeplane.store.settlements import Settled

_NOBODY: Final = Claimant(WorkerId(""), 0.0, (), may_take_suspect=False)


class Written(NamedTuple):
    """Which tasks were ended, by their ids, and what that has to tell."""

    settled: dict[TaskId, Settled]
    aftermath: Aftermath


async def end_plainly(
    ledger: Ledger,
    judged: Sequence[Judged],
    revisions: Revisions,
    continuation: Continuation | None,
    *,
    counted_by: str,
) -> Written:
    """End attempts and go on in their lanes; what was lost, or is awaited by now, is left out."""
    verdicts = [one.verdict for one in judged]

    async def settle(some: Sequence[Verdict]) -> list[Settled]:
        made: Revisions = {v.task_id: revisions[v.task_id] for v in some if v.task_id in revisions}
        if not made:
            return await settlements.settle_well(ledger, some, counted_by=counted_by)
        return (await settlements.settle_edits(ledger, some, made, _NOBODY, (), counted_by=counted_by)).settled

    rows: list[Settled] | None = None
    if continuation is not None:
        rows = await continuation.settle(ledger, verdicts, revisions, counted_by=counted_by)
    if rows is None:
        rows = await settle(verdicts)
    if len(rows) < len(verdicts):
        ends = await with_the_rest(ledger, rows, verdicts, settle, awaited=False)
        rows = ends.now + ends.before
    aftermath = aftermath_of(rows, verdicts)
    if continuation is not None:
        aftermath.ended.extend(edit.task_id for edit in continuation.ended_ahead)
    return Written({row.task_id: row for row in rows}, aftermath)
