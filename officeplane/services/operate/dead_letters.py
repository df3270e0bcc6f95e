"""Dead letters: what people decide about dead letters, one by one or all that are alike."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, assert_never

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.audit import Action, Deed
from officeplane.domain.dead_letter import DeadLetter, Decision, Reviewed, Ruling
from officeplane.domain.errors import (
    DatabaseUnavailableError,
    DeadLetterNotFoundError,
    LetterResolvedError,
    OfficePlaneError,
)
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import GAVE_UP
from officeplane.domain.principal import Principal
from officeplane.services.operate.reopening import Reopening
from officeplane.services.settle.aftermath import ENDED
from officeplane.services.settle.batches import TreeEffects
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.services.settle.dependents import abandon, lock_around
from officeplane.services.submit.intake import other_payload
from officeplane.services.submit.task_types import TaskTypes
from officeplane.store import audit, dead_letters, tasks, trees
from officeplane.store.connection import Connection, Ledger
from officeplane.store.dead_letters import LetterFilter
from officeplane.store.tasks import END_OF_TIME

ALIKE_AT_ONCE: Final = 100
Payload = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A letter that the decision could not be carried out for, and why."""

    task_id: TaskId
    reason: OfficePlaneError


@dataclass(slots=True)
class Part:
    """What became of some of the letters that are alike; `last` is where the next part begins, if there may be one."""

    count: int = 0
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    last: int | None = None


class DeadLetters:
    """Carries out what people decide about dead letters."""

    def __init__(
        self,
        ledger: Ledger,
        doorbell: Doorbell,
        reopening: Reopening,
        types: TaskTypes,
        letters: DeadLetterWriter,
    ) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._reopening = reopening
        self._types = types
        self._letters = letters

    async def page(self, caller: Principal, wanted: LetterFilter, before: int | None, limit: int) -> list[Reviewed]:
        """Return the newest letters that fit, below the sequence number of the last page's last."""
        before = END_OF_TIME if before is None else before
        page = await dead_letters.page(
            self._ledger, wanted.within(caller.space), caller.sight, before=before, limit=limit
        )
        return await dead_letters.reviewed(self._ledger, page, caller.sight)

    async def letter(self, caller: Principal, task_id: TaskId) -> Reviewed:
        """Return the latest letter of a task, with everything that was ever decided about the task's letters."""
        letter = await dead_letters.latest(self._ledger, task_id, caller.sight)
        if letter is None:
            raise DeadLetterNotFoundError(task_id)
        (reviewed,) = await dead_letters.reviewed(self._ledger, [letter], caller.sight)
        return reviewed

    async def resolve(
        self, caller: Principal, task_id: TaskId, ruling: Ruling, payload: Payload | None = None
    ) -> Reviewed:
        """Carry out what was decided about a task's letter; `payload` is what the task is to be tried again with."""
        _unresolved(task_id, await dead_letters.latest(self._ledger, task_id, caller.sight))
        await self._carry_out(_deed(caller, Action.RESOLVE_LETTER, task_id, ruling), ruling, payload)
        return await self.letter(caller, task_id)

    async def resolve_alike(
        self, caller: Principal, fingerprint: str, ruling: Ruling, payload: Payload | None = None, *, after: int = 0
    ) -> Part:
        """Carry it out for the oldest unresolved letters of a fingerprint, so many that it does not take long."""
        letters = await dead_letters.alike(self._ledger, fingerprint, caller.sight, after=after, limit=ALIKE_AT_ONCE)
        if not letters and not await dead_letters.is_known(self._ledger, fingerprint, caller.sight):
            raise DeadLetterNotFoundError(fingerprint)
        if letters and payload is not None:
            # All are of one type: a payload that does not fit the first fits none of them.
            await self._checked(letters[0].task_id, payload)
        part = Part(last=letters[-1].seq if len(letters) == ALIKE_AT_ONCE else None)
        for letter in letters:
            try:
                await self._carry_out(_deed(caller, Action.RESOLVE_LETTERS, letter.task_id, ruling), ruling, payload)
                part.count += 1
            except DatabaseUnavailableError:
                raise
            except OfficePlaneError as reason:
                part.skipped.append(Skipped(letter.task_id, reason))
        return part

    async def _carry_out(self, deed: Deed, ruling: Ruling, payload: Payload | None) -> None:
        (task_id,) = deed.task_ids
        payload_json = None if payload is None else await self._checked(task_id, payload)
        root_id = await trees.root_of(self._ledger, task_id)
        if root_id is None:
            raise DeadLetterNotFoundError(task_id)

        async def decide(connection: Connection) -> TreeEffects:
            await lock_around(connection, completing=(), ending=[task_id], roots=[root_id])
            _unresolved(task_id, await dead_letters.lock_latest(connection, task_id))
            match ruling.decision:
                case Decision.RETRY | Decision.MODIFY_AND_RETRY:
                    moved = await self._reopening.reopen(connection, root_id, task_id, ruling, deed)
                    if payload_json is not None:
                        await dead_letters.replace_payload(connection, task_id, root_id, payload_json)
                    return TreeEffects(queued=moved)
                case Decision.CANCEL | Decision.DELETE:
                    await dead_letters.resolve(connection, [task_id], ruling)
                    lost = await _lost_for_good(connection, root_id, task_id)
                    await audit.write(connection, deed)
                    return await abandon(connection, lost, self._letters)
                case Decision.ESCALATE | Decision.NOTE:
                    await dead_letters.remark(connection, task_id, ruling, alerts=self._letters.alerts)
                    await audit.write(connection, deed)
                    return TreeEffects()
                case _:
                    assert_never(ruling.decision)

        led_to = await self._ledger.in_transaction(decide)
        await self._reopening.tell(led_to.queued)
        await self._doorbell.announcements.announce(ENDED, [task.task_id for task in led_to.ended])
        await self._doorbell.announcements.request_stop(led_to.asked)

    async def _checked(self, task_id: TaskId, payload: Payload) -> str:
        found = await tasks.fetch(self._ledger, [task_id])
        if task_id not in found:
            raise DeadLetterNotFoundError(task_id)
        await self._types.know([found[task_id].task_type])
        # It may be large, and is checked beside the loop.
        return await asyncio.to_thread(other_payload, found[task_id], payload, self._types.catalogue)


def _deed(caller: Principal, action: Action, task_id: TaskId, ruling: Ruling) -> Deed:
    on_behalf_of = None if ruling.by == caller.id else ruling.by
    return Deed(caller, action, task_ids=[task_id], after={"resolution": ruling.decision}, on_behalf_of=on_behalf_of)


async def _lost_for_good(connection: Connection, root_id: TaskId, task_id: TaskId) -> list[TaskId]:
    """Return the task, and the batches around it that failed with it and that no other letter may yet bring back."""
    tree = await trees.lock_tree(connection, root_id)
    lost = [task_id]
    for batch in tree.path(task_id):
        below = [node.id for node in tree.below(batch.id)]
        if batch.state not in GAVE_UP or await dead_letters.are_unresolved(connection, below):
            break
        lost.append(batch.id)
    return lost


def _unresolved(task_id: TaskId, letter: DeadLetter | None) -> None:
    if letter is None:
        raise DeadLetterNotFoundError(task_id)
    if letter.resolution is not None:
        raise LetterResolvedError(task_id, letter.resolution)
