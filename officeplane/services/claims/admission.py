"""Admission: claims of types with declared limits, exact over all workers.

The statements that claim leave such types out. Here the valves of the types at
hand are locked first, and what room there is is read by a statement of its
own, which sees what the one who held the lock before has claimed. An
installation without limits never comes here.
"""

from collections.abc import Sequence
from dataclasses import replace

from officeplane.domain.task import ClaimedTask
from officeplane.domain.valve import Contender, admitted
from officeplane.store import claims, valves
from officeplane.store.claims import Claimant, LaneClaim, TaskClaim
from officeplane.store.connection import Executor, Ledger


async def admit(
    ledger: Ledger, who: Claimant, tasks: Sequence[TaskClaim], lanes: Sequence[LaneClaim]
) -> list[ClaimedTask]:
    """Claim those of these tasks and lanes' heads that the limits of their types leave room for."""
    documents = [document_id for document_id, _, _ in lanes]
    contenders = await valves.contenders(ledger, [task_id for task_id, _ in tasks], documents)
    if not contenders:
        return []

    async def claim(executor: Executor) -> list[ClaimedTask]:
        chosen = await admissible(executor, contenders)
        ids = {one.task_id for one in chosen}
        wanted = {one.document_id for one in chosen}
        claimed: list[ClaimedTask] = []
        if free := [task for task in tasks if task[0] in ids]:
            claimed += (await claims.claim_hinted(executor, who, free, ids)).claimed
        if heads := [lane for lane in lanes if lane[0] in wanted]:
            alone = who.may_take_suspect and not any(task.suspect for task in claimed)
            claimed += await claims.claim_lanes(executor, replace(who, may_take_suspect=alone), heads, ids)
        if claimed:
            await valves.take_tokens(executor, [task.qualified_type for task in claimed])
        return claimed

    return await ledger.in_transaction(claim)


async def admissible(executor: Executor, contenders: Sequence[Contender]) -> list[Contender]:
    """Return those that there is room for, which nobody else takes until the transaction ends."""
    task_types = sorted({one.task_type for one in contenders})
    await valves.lock_limits(executor, task_types)
    return admitted(contenders, await valves.rooms(executor, task_types))
