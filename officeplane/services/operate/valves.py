"""Valves: holding the tasks of a type or of a document back, and letting them go on, in the caller's space.

What is held stays where it is in the ledger; the statements that claim leave it
out. So a worker without Redis knows as soon as one with it, and nobody has to
be told but those who wait: what lets go rings.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from officeplane.dispatch.doorbell import Doorbell
from officeplane.domain.audit import Action, Deed, Facts
from officeplane.domain.errors import DocumentNotFoundError, NoBreakerError
from officeplane.domain.ids import DocumentId
from officeplane.domain.principal import Principal
from officeplane.domain.space import QualifiedType, bare, qualified_type
from officeplane.domain.valve import Limits, Valve
from officeplane.services.submit.task_types import TaskTypes
from officeplane.store import audit, claims, valves
from officeplane.store.connection import Connection, Ledger

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
        of_space = await self._changeable(caller, task_type)
        paused = partial(valves.set_paused, task_type=of_space, paused=True)
        await self._change(caller, Action.PAUSE_TYPE, of_space, paused, _pause)

    async def resume_type(self, caller: Principal, task_type: str) -> None:
        """Let tasks of a type be claimed again, and ring for the most urgent; the sweeper rings for the rest."""
        of_space = await self._changeable(caller, task_type)
        resumed = partial(valves.set_paused, task_type=of_space, paused=False)
        await self._change(caller, Action.RESUME_TYPE, of_space, resumed, _pause)
        await self._ring(of_space)

    async def pause_document(self, caller: Principal, name: str) -> None:
        """Keep everything of a document's lane from being claimed; what runs goes on."""
        await self._pause_document(caller, Action.PAUSE_DOCUMENT, caller.document(name), valves.pause_document)

    async def resume_document(self, caller: Principal, name: str) -> None:
        """Let a document's lane go on, and ring for its head."""
        document_id = caller.document(name)
        await self._pause_document(caller, Action.RESUME_DOCUMENT, document_id, valves.resume_document)
        await self._doorbell.bells.ring(await claims.lane_heads(self._ledger, [document_id]))

    async def breakers(self, caller: Principal) -> list[Valve]:
        """Return the breakers of every type that is known and has one, and of those that were known once."""
        touched = {valve.task_type: valve for valve in await valves.of_space(self._ledger, caller.space)}
        types = filter(self._catalogue.has_breaker, {*self._catalogue.types, *touched})
        return [touched.get(name) or Valve(name) for name in sorted(filter(caller.sees_type, types))]

    async def set_breaker(
        self, caller: Principal, task_type: str, failure_threshold: int | None, half_open_after_seconds: float | None
    ) -> Valve:
        """Give a type's breaker a threshold and a time of its own; None is the installation's."""
        of_space = await self._breakable(caller, task_type)
        was_set = partial(
            valves.set_breaker,
            task_type=of_space,
            failure_threshold=failure_threshold,
            half_open_after_seconds=half_open_after_seconds,
            default_seconds=self._half_open_after_seconds,
        )
        return await self._change(caller, Action.SET_BREAKER, of_space, was_set, _breaker)

    async def open_breaker(self, caller: Principal, task_type: str) -> Valve:
        """Hold a type back as its failures would."""
        of_space = await self._breakable(caller, task_type)
        opened = partial(valves.open_by_hand, task_type=of_space, half_open_after_seconds=self._half_open_after_seconds)
        return await self._change(caller, Action.OPEN_BREAKER, of_space, opened, _breaker)

    async def reset_breaker(self, caller: Principal, task_type: str) -> Valve:
        """Close a type's breaker, forget its failures, and ring for what waited."""
        of_space = await self._changeable(caller, task_type)
        closed = partial(valves.close_by_hand, task_type=of_space)
        valve = await self._change(caller, Action.RESET_BREAKER, of_space, closed, _breaker)
        await self._ring(of_space)
        return valve

    async def limits(self, caller: Principal, task_type: str) -> Limits:
        """Return the limits of a type."""
        caller.check_type(task_type)
        of_space = await self._known(caller, task_type)
        return (await valves.fetch(self._ledger, of_space) or Valve(task_type)).limits

    async def set_limits(self, caller: Principal, task_type: str, limits: Limits) -> None:
        """Declare the limits of a type, or lift them, and ring for what may come in."""
        of_space = await self._changeable(caller, task_type)
        are_lifted = limits == Limits()
        action = Action.LIFT_LIMITS if are_lifted else Action.SET_LIMITS
        were_set = partial(valves.set_limits, task_type=of_space, limits=limits)
        await self._change(caller, action, of_space, were_set, _limits)
        if are_lifted:
            await self._ring(of_space)

    async def _change(
        self,
        caller: Principal,
        action: Action,
        task_type: QualifiedType,
        change: Callable[[Connection], Awaitable[None]],
        facts: Callable[[Valve], Facts],
    ) -> Valve:
        name = bare(task_type)

        async def changed(connection: Connection) -> Valve:
            before = await valves.lock(connection, task_type) or Valve(name)
            await change(connection)
            after = await valves.fetch(connection, task_type) or Valve(name)
            deed = Deed(caller, action, name, before=facts(before), after=facts(after))
            await audit.write(connection, deed)
            return after

        return await self._ledger.in_transaction(changed)

    async def _pause_document(
        self,
        caller: Principal,
        action: Action,
        document_id: DocumentId,
        change: Callable[[Connection, DocumentId], Awaitable[bool]],
    ) -> None:
        async def changed(connection: Connection) -> None:
            before = await valves.is_paused(connection, document_id)
            if not await change(connection, document_id):
                raise DocumentNotFoundError(document_id, nor_task=True)
            after = action is Action.PAUSE_DOCUMENT
            deed = Deed(caller, action, bare(document_id), before={"paused": before}, after={"paused": after})
            await audit.write(connection, deed)

        await self._ledger.in_transaction(changed)

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


def _pause(valve: Valve) -> Facts:
    return {"paused": valve.is_paused}


def _breaker(valve: Valve) -> Facts:
    breaker = valve.breaker
    return {
        "state": breaker.state,
        "failures": breaker.failures,
        "failureThreshold": breaker.failure_threshold,
        "halfOpenAfterSeconds": breaker.half_open_after_seconds,
    }


def _limits(valve: Valve) -> Facts:
    return {"ratePerSecond": valve.limits.rate_per_second, "concurrency": valve.limits.concurrency}
