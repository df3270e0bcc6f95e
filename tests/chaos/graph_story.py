"""Stories of what waits for something else: dependents, DAGs, and tasks that spawn others."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.chaos.evidence import DagEventRow, DagRow, EdgeRow, SpawnRow
from tests.chaos.graph_orders import SPAWNERS
from tests.chaos.history import Wanted
from tests.chaos.story import MOMENT_SECONDS, Story


class GraphStory(Story):
    """Tells what happened to tasks that wait for each other."""

    def dependent(self, name: str, *needed: str, **row: Any) -> str:
        """A task is accepted that depends on others."""
        self.task(name, **self._waiting(needed), **row)
        self.evidence.history[-1].wanted = (Wanted(name, needs=needed),)
        self._edges(name, needed)
        return name

    def dag(self, name: str, needs: Mapping[str, tuple[str, ...]]) -> str:
        """A DAG is accepted whose tasks depend on each other."""
        self.evidence.dags[name] = DagRow(name, name, "running")
        for task, needed in needs.items():
            self.task(task, dag_id=name, **self._waiting(needed))
            self._edges(task, needed)
        first, *_ = needs
        self.evidence.keys[name] = first
        nodes = tuple(Wanted(task, needs=needed) for task, needed in needs.items())
        self.operation("dag", status=201, wanted=(Wanted(name, nodes),), task_ids=tuple(needs), dag_id=name)
        return name

    def judged(self, dag: str, status: str) -> None:
        """A DAG has ended."""
        self.wait(MOMENT_SECONDS)
        # Followers hear of the tasks only.
        self.evidence.dag_events.append(DagEventRow(self._number(), dag, status))
        self.evidence.dags[dag] = replace(self.evidence.dags[dag], status=status)

    def spawner(self, name: str, *spawns: str, waits: bool = True, **row: Any) -> str:
        """A task is accepted that will spawn others."""
        self.task(name, task_type=SPAWNERS[0], **row)
        self.evidence.history[-1].wanted = (Wanted(name, spawns=spawns, waits=waits),)
        return name

    def spawned(self, name: str, by: str, key: str | None = None) -> str:
        """The handler of a task spawns another, under its name unless told otherwise."""
        spawn = SpawnRow(by, key or name, name)
        self.task(name, spawned_by=by, spawn_key=spawn.key, dag_id=self.evidence.tasks[by].dag_id)
        known = [row for row in self.evidence.spawns if (row.spawned_by, row.key) != (by, spawn.key)]
        self.evidence.spawns = [*known, spawn]
        return name

    def suspended(self, name: str, awaited: str) -> None:
        """The handler waits for what it spawned."""
        self.mark("end", name, self.evidence.tasks[name].attempt)
        self.event(name, "PENDING")
        self.change(name, blockers=1, unmet=1)
        self._edges(name, (awaited,))
        self._count("pending")

    def released(self, name: str) -> None:
        """Nothing that a task waits for is left."""
        self.event(name, "QUEUED")
        self.change(name, blockers=0, unmet=0)

    def cancelled_together(self, *names: str) -> None:
        """Tasks are cancelled in one transaction."""
        self.cancelled(names[0])
        first = self.evidence.events[-1]
        for name in names[1:]:
            self.cancelled(name)
            last = self.evidence.events[-1]
            _, number, index = last.position.split("-")
            self.evidence.events[-1] = replace(last, position=f"{first.xid}-{number}-{index}")
            assert self.evidence.heard is not None
            self.evidence.heard.add(self.evidence.events[-1].position)

    @staticmethod
    def _waiting(needed: tuple[str, ...]) -> dict[str, Any]:
        return {"state": "PENDING", "blockers": len(needed), "unmet": len(needed)} if needed else {}

    def _edges(self, name: str, needed: tuple[str, ...]) -> None:
        self.evidence.edges += [EdgeRow(name, one) for one in needed]
