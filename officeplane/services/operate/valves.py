"""Valves: holding the tasks of a type or of a document back, and letting them go on, in the caller's space.

What is held stays where it is in the ledger; the statements that claim leave it
out. So a worker without Redis knows as soon as one with it, and nobody has to
be told but those who wait: what lets go rings.
"""

from typing import Final

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.errors import DocumentNotFoundError, NoBreakerError
from officeplane.domain.principal import Principal
from officeplane.domain.space import QualifiedType, bare, qualified_type
from officeplane.domain.valve import Limits, Valve
from officeplane.services.submit.task_types import TaskTypes
from officeplane.store import claims, valves
from officeplane.store.connection import Ledger

RINGS_AT_ONCE: Final = 1_000


class Valves:
    """The valves of types and the pauses of documents, as people set them."""

    def __init__(self, ledger: Ledger, doorbell: Doorbell, types: TaskTypes, half_open_after_seconds: float) -> None:
        self._ledger = ledger
        self._doorbell = doorbell
        self._types = types
        self._catalogue = types.catalogue
        self._half_open_after_seconds = half_open_after_seconds

    async def pause_type(self, caller: Principal, task_type: str) -> None:
        """Keep tasks of a type from being claimed; what runs goes on."""
        await valves.set_paused(self._ledger, await self._changeable(caller, task_type), paused=True)

    async def resume_type(self, caller: Principal, task_type: str) -> None:
        """Let tasks of a type be claimed again, and ring for the most urgent; the sweeper rings for the rest."""
        of_space = await self._changeable(caller, task_type)
        await valves.set_paused(self._ledger, of_space, paused=False)
        await self._ring(of_space)

    async def pause_document(self, caller: Principal, name: str) -> None:
        """Keep everything of a document's lane from being claimed; what runs goes on."""
        document_id = caller.document(name)
        if not await valves.pause_document(self._ledger, document_id):
            raise DocumentNotFoundError(document_id, nor_task=True)

    async def resume_document(self, caller: Principal, name: str) -> None:
        """Let a document's lane go on, and ring for its head."""
        document_id = caller.document(name)
        if not await valves.resume_document(self._ledger, document_id):
            raise DocumentNotFoundError(document_id, nor_task=True)
        await self._doorbell.bells.ring(await claims.lane_heads(self._ledger, [document_id]))

    async def breakers(self, caller: Principal) -> list[Valve]:
        """Return the breakers of every type that can be run and has one, and of those that once could be run."""
        touched = {valve.task_type: valve for valve in await valves.of_space(self._ledger, caller.space)}
        types = filter(self._catalogue.has_breaker, {*self._catalogue.runnable, *touched})
        return [touched.get(name) or Valve(name) for name in sorted(filter(caller.sees_type, types))]

    async def set_breaker(
        self, caller: Principal, task_type: str, failure_threshold: int | None, half_open_after_seconds: float | None
    ) -> Valve:
        """Give a type's breaker a threshold and a time of its own; None is the installation's."""
        of_space = await self._breakable(caller, task_type)
        await valves.set_breaker(
            self._ledger, of_space, failure_threshold, half_open_after_seconds, self._half_open_after_seconds
        )
        return await self._valve(of_space)

    async def open_breaker(self, caller: Principal, task_type: str) -> Valve:
        """Hold a type back as its failures would."""
        of_space = await self._breakable(caller, task_type)
        await valves.open_by_hand(self._ledger, of_space, self._half_open_after_seconds)
        return await self._valve(of_space)

    async def reset_breaker(self, caller: Principal, task_type: str) -> Valve:
        """Close a type's breaker, forget its failures, and ring for what waited."""
        of_space = await self._changeable(caller, task_type)
        await valves.close_by_hand(self._ledger, of_space)
        await self._ring(of_space)
        return await self._valve(of_space)

    async def limits(self, caller: Principal, task_type: str) -> Limits:
        """Return the limits of a type."""
        caller.check_type(task_type)
        return (await self._valve(await self._known(caller, task_type))).limits

    async def set_limits(self, caller: Principal, task_type: str, limits: Limits) -> None:
        """Declare the limits of a type, or lift them, and ring for what may come in."""
        of_space = await self._changeable(caller, task_type)
        await valves.set_limits(self._ledger, of_space, limits)
        if limits == Limits():
            await self._ring(of_space)

    async def _valve(self, task_type: QualifiedType) -> Valve:
        return await valves.fetch(self._ledger, task_type) or Valve(bare(task_type))

    async def _breakable(self, caller: Principal, task_type: str) -> QualifiedType:
        of_space = await self._changeable(caller, task_type)
        if not self._catalogue.has_breaker(task_type):
            raise NoBreakerError(task_type)
        return of_space

    async def _changeable(self, caller: Principal, task_type: str) -> QualifiedType:
        """Return the type as the caller's space has it; raise when it is not for the caller to hold back."""
        caller.check_whole_type(task_type)
        return await self._known(caller, task_type)

    async def _known(self, caller: Principal, task_type: str) -> QualifiedType:
        """Raise for a type that nobody knows; one that was known once may still have a valve to be opened."""
        of_space = qualified_type(caller.space, task_type)
        await self._types.know([task_type])
        if task_type not in self._catalogue.types and await valves.fetch(self._ledger, of_space) is None:
            self._catalogue.find(task_type)
        return of_space

    async def _ring(self, task_type: QualifiedType) -> None:
        await self._doorbell.bells.ring(await valves.ring(self._ledger, {task_type: RINGS_AT_ONCE}))
