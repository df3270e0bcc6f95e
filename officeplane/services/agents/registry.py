"""The registry: which agents there are, what each is good for, and whether it claims."""

from typing import Final

from officeplane.domain.agent import BEATS_PER_LEASE, AgentDay, AgentStatus, Holder, Registration
from officeplane.domain.audit import Action, Deed
from officeplane.domain.errors import (
    AgentBusyError,
    AgentNotFoundError,
    FieldError,
    ForbiddenError,
    InvalidRequestError,
    UnknownTaskTypeError,
)
from officeplane.domain.ids import AgentId
from officeplane.domain.principal import Principal, Scope, pattern
from officeplane.domain.space import bare, qualified
from officeplane.handlers.catalogue import Catalogue
from officeplane.services.access.spaces import Spaces
from officeplane.services.submit.task_types import TaskTypes
from officeplane.store import agents, audit
from officeplane.store.agents import AgentSight
from officeplane.store.connection import Connection, Ledger

HEARTBEATS_MIN: Final = 2
"""How often an agent has to mean to be heard of while its lease lasts: one beat may be lost."""


class Agents:
    """The agents of an installation."""

    def __init__(self, ledger: Ledger, types: TaskTypes, spaces: Spaces, lease_seconds: float) -> None:
        self._ledger = ledger
        self._types = types
        self._spaces = spaces
        self._lease_seconds = lease_seconds

    async def register(self, caller: Principal, name: str, said: Registration) -> tuple[AgentDay, bool]:
        """Add an agent, or put it in the place of what it was; return it, and whether it is new."""
        agent_id = agent_of(caller, name)
        await self._types.know(said.task_types)
        _check_types(self._types.catalogue, said.task_types)
        heartbeat_seconds = self._heartbeat_seconds(said)

        if await agents.lock(self._ledger, agent_id) is None:
            await self._spaces.let_in_agent(caller)

        async def registered(connection: Connection) -> bool:
            known = await agents.lock(connection, agent_id)
            await agents.register(connection, agent_id, caller.space, said, heartbeat_seconds, caller.id)
            facts = {"taskTypes": list(said.task_types), "capabilities": list(said.capabilities)}
            await audit.write(connection, Deed(caller, Action.REGISTER_AGENT, name, after=facts))
            return known is None

        is_new = await self._ledger.in_transaction(registered)
        return await self._found(caller, agent_id), is_new

    async def set_status(self, caller: Principal, name: str, status: AgentStatus) -> AgentDay:
        """Have an agent claim, or claim no more; what it has goes on."""
        agent_id = agent_of(caller, name)
        held_by = Holder.PERSON if caller.may(Scope.CONTROL) else Holder.AGENT

        async def changed(connection: Connection) -> None:
            known = await agents.lock(connection, agent_id)
            if known is None:
                raise AgentNotFoundError(name)
            _check_may(caller)
            if known.held_by is Holder.PERSON and held_by is Holder.AGENT:
                # A person's word is not an agent's to take back.
                raise ForbiddenError(Scope.CONTROL, caller.id)
            await agents.set_status(connection, agent_id, status, None if status is AgentStatus.ACTIVE else held_by)
            before, after = {"status": known.status}, {"status": status}
            await audit.write(connection, Deed(caller, Action.CHANGE_AGENT, name, before=before, after=after))

        await self._ledger.in_transaction(changed)
        return await self._found(caller, agent_id)

    async def remove(self, caller: Principal, name: str) -> None:
        """Remove an agent that holds nothing."""
        agent_id = agent_of(caller, name)

        async def removed(connection: Connection) -> None:
            if await agents.lock(connection, agent_id) is None:
                raise AgentNotFoundError(name)
            _check_may(caller)
            held = await agents.count_held(connection, agent_id)
            if held:
                raise AgentBusyError(name, held)
            await agents.remove(connection, agent_id)
            await audit.write(connection, Deed(caller, Action.DELETE_AGENT, name))

        await self._ledger.in_transaction(removed)

    async def show(self, caller: Principal, name: str) -> AgentDay:
        """Return an agent as it stands."""
        return await self._found(caller, agent_of(caller, name))

    async def page(self, caller: Principal, after: str, limit: int) -> list[AgentDay]:
        """Return agents by id, after one."""
        start = qualified(caller.space, after) if after else ""
        return await agents.page(self._ledger, self._sight(caller), after=start, limit=limit)

    async def _found(self, caller: Principal, agent_id: AgentId) -> AgentDay:
        found = await agents.fetch(self._ledger, self._sight(caller), agent_id)
        if found is None:
            raise AgentNotFoundError(bare(agent_id))
        return found

    def _sight(self, caller: Principal) -> AgentSight:
        names = caller.agents
        patterns = None if names is None else [pattern(qualified(caller.space, name)) for name in names]
        return AgentSight(caller.space, patterns, self._lease_seconds)

    def _heartbeat_seconds(self, said: Registration) -> float:
        most = self._lease_seconds / HEARTBEATS_MIN
        if said.heartbeat_seconds is not None and said.heartbeat_seconds > most:
            what = f"It must be at most {most:g}, half of the lease of {self._lease_seconds:g} s: one beat may be lost."
            raise InvalidRequestError(f"heartbeatSeconds: {what}", [FieldError("heartbeatSeconds", what)])
        return said.heartbeat_seconds or self._lease_seconds / BEATS_PER_LEASE


def agent_of(caller: Principal, name: str) -> AgentId:
    """Return what an agent that somebody names is called inside; raise when it is not there for him."""
    if not caller.sees_agent(name):
        raise AgentNotFoundError(name)
    return AgentId(qualified(caller.space, name))


def _check_may(caller: Principal) -> None:
    """Raise unless a caller is the agent itself, or somebody who controls what others do."""
    if not caller.may(Scope.AGENT) and not caller.may(Scope.CONTROL):
        raise ForbiddenError(Scope.CONTROL, caller.id)


def _check_types(catalogue: Catalogue, names: tuple[str, ...]) -> None:
    for place, name in enumerate(names):
        field = f"taskTypes.{place}"
        try:
            found = catalogue.find(name)
        except UnknownTaskTypeError as error:
            raise UnknownTaskTypeError(str(error), [FieldError(field, one.message) for one in error.errors]) from None
        if found.asks is None:
            what = f"Workers do the tasks of type {name!r}; an agent cannot claim them."
            raise InvalidRequestError(f"{field}: {what}", [FieldError(field, what)])
