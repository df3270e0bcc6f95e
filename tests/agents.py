"""Agents for tests: registered, and tasks that only they may do."""

from collections.abc import Sequence
from typing import Any

from officeplane.domain.agent import AgentClaim, AgentDay, Registration
from officeplane.domain.declared_type import DeclaredType
from officeplane.domain.ids import TaskId
from officeplane.domain.principal import LOCAL, Principal
from officeplane.domain.task import Task
from officeplane.services.agents.claiming import Ask, Taken
from tests.workbench import Workbench

WRITING = "writing"
"""A task type that agents do."""


async def an_agent(bench: Workbench, name: str = "ann", caller: Principal | None = None, **said: Any) -> AgentDay:
    """Register an agent; what is not said is as little as possible."""
    await declare(bench, *said.get("task_types", (WRITING,)))
    given: dict[str, Any] = {
        "kind": None,
        "title": None,
        "capabilities": (),
        "task_types": (WRITING,),
        "models": (),
        "max_concurrent_tasks": 1_000,
        "version": None,
        "heartbeat_seconds": None,
        "start_seconds": 30.0,
    }
    day, _ = await bench.runtime.agents.register(caller or bench.caller, name, Registration(**{**given, **said}))
    return day


async def declare(bench: Workbench, *task_types: str) -> None:
    """Have there be types that agents do."""
    for name in task_types:
        if name not in bench.runtime.catalogue.types:
            await bench.runtime.task_types.declare(LOCAL, DeclaredType(name=name, title=name.title()))


async def agents_tasks(bench: Workbench, count: int, task_type: str = WRITING, **options: Any) -> list[Task]:
    """Submit tasks that agents do; options are named as in the Python API."""
    await declare(bench, task_type)
    return await bench.submit_many([{"task_type": task_type, **options}] * count)


async def an_agents_task(bench: Workbench, task_type: str = WRITING, **options: Any) -> Task:
    """Submit a task that agents do."""
    (task,) = await agents_tasks(bench, 1, task_type, **options)
    return task


async def take(bench: Workbench, name: str = "ann", tasks: int = 1, **asked: Any) -> list[AgentClaim]:
    """Claim for an agent what there is."""
    return (await taken(bench, name, tasks, **asked)).claims


async def taken(bench: Workbench, name: str = "ann", tasks: int = 1, **asked: Any) -> Taken:
    """Do the same, and tell all that it has come to."""
    return await bench.runtime.claiming.take(bench.caller, name, Ask(tasks=tasks, **asked))


def ids_of(claims: Sequence[AgentClaim]) -> list[TaskId]:
    """Return which tasks were claimed."""
    return [claim.task.id for claim in claims]
