"""Agents that wait: who is woken for what, and how few look for nothing."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from officeplane.domain.agent import AgentStatus, WaitingDemand
from officeplane.domain.errors import ForbiddenError
from officeplane.domain.principal import LOCAL, Principal, Scope
from officeplane.domain.space import Space
from officeplane.services.agents import waiting
from officeplane.services.agents.claiming import Ask, Claiming, Taken
from officeplane.store import offers
from officeplane.store.connection import Executor
from tests.agents import agents_tasks, an_agent, an_agents_task, ids_of
from tests.support import eventually
from tests.workbench import Workbench

TURNS = 200
"""Of the loop, in each of which a probe that does not rest would ask."""


class Waits:
    """Agents that wait, and how often each has looked."""

    def __init__(self, bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bench = bench
        self.stopping = asyncio.Event()
        self.may_stay: dict[str, Exception] = {}
        self.looks: dict[str, int] = {}
        self._running: set[asyncio.Task[Taken]] = set()
        take = Claiming.take

        async def counted(claiming: Claiming, caller: Principal, name: str, ask: Ask) -> Taken:
            self.looks[name] = self.looks.get(name, 0) + 1
            return await take(claiming, caller, name, ask)

        monkeypatch.setattr(Claiming, "take", counted)

    async def begin(self, name: str, seconds: float = 30, **asked: Any) -> "asyncio.Task[Taken]":
        """Have an agent wait; return when it does."""
        before = self.bench.runtime.waiting.count

        async def may_stay() -> None:
            if name in self.may_stay:
                raise self.may_stay[name]

        begun = asyncio.ensure_future(
            self.bench.runtime.waiting.claim(
                self.bench.caller, name, Ask(**asked), seconds, may_stay=may_stay, stopping=self.stopping
            )
        )
        self._running.add(begun)
        await eventually(lambda: self._more_than(before), what="an agent that waits")
        return begun

    async def _more_than(self, before: int) -> bool:
        return self.bench.runtime.waiting.count > before

    async def end(self) -> None:
        for one in self._running:
            one.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)


@pytest.fixture
async def waits(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Waits]:
    found = Waits(bench, monkeypatch)
    yield found
    await found.end()


@pytest.fixture
def no_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody be woken but by the test."""
    monkeypatch.setattr(waiting, "PROBE_SECONDS", 3_600.0)


async def test_who_waits_is_given_what_comes(bench: Workbench, waits: Waits) -> None:
    await an_agent(bench)
    one = await waits.begin("ann")

    task = await an_agents_task(bench)

    assert ids_of((await one).claims) == [task.id]
    assert waits.looks["ann"] == 2
    assert bench.runtime.waiting.count == 0


async def test_who_waits_in_vain_looks_once_more_at_the_end(bench: Workbench, waits: Waits, no_probe: None) -> None:
    await an_agent(bench)
    one = await waits.begin("ann", seconds=0.1)

    assert (await one).claims == []
    assert waits.looks["ann"] == 2


async def test_nobody_is_woken_for_what_he_cannot_do(bench: Workbench, waits: Waits) -> None:
    for name, can in {"ann": (), "bob": ("english",)}.items():
        await an_agent(bench, name, capabilities=can)
    await an_agent(bench, "eve", models=("small",), capabilities=("english",))
    begun = [await waits.begin(name) for name in ("ann", "bob", "eve")]

    await an_agents_task(bench, required_capabilities=["english"], models=["small"])

    assert len((await begun[2]).claims) == 1
    assert waits.looks == {"ann": 1, "bob": 1, "eve": 2}


async def test_one_is_woken_for_one_task_the_one_that_can_least(bench: Workbench, waits: Waits) -> None:
    for name, can in {"all": ("english", "french"), "more": ("english",), "least": ()}.items():
        await an_agent(bench, name, capabilities=can)
    begun = {name: await waits.begin(name) for name in ("all", "more", "least")}

    task = await an_agents_task(bench)

    assert ids_of((await begun["least"]).claims) == [task.id]
    assert waits.looks == {"all": 1, "more": 1, "least": 2}


async def test_of_those_that_can_the_same_the_one_that_waits_longest_is_woken(bench: Workbench, waits: Waits) -> None:
    for name in ("first", "second"):
        await an_agent(bench, name)
    begun = [await waits.begin(name) for name in ("first", "second")]

    await an_agents_task(bench)
    done, _ = await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)

    assert done == {begun[0]}


async def test_who_was_given_something_wakes_the_next_without_another_look_at_the_ledger(
    bench: Workbench, waits: Waits, no_probe: None
) -> None:
    names = [f"agent-{n}" for n in range(5)]
    for name in names:
        await an_agent(bench, name)
    begun = [await waits.begin(name) for name in names]
    tasks = await agents_tasks(bench, 3)
    (demand,) = await demands(bench)

    bench.runtime.waiting.ring(demand)
    done: set[asyncio.Task[Taken]] = set()
    while len(done) < 3:
        done, _ = await asyncio.wait(begun, return_when=asyncio.FIRST_COMPLETED)

    assert {ids_of(one.result().claims)[0] for one in done} == {task.id for task in tasks}
    # The fourth was woken in vain, and woke nobody.
    await eventually(lambda: looked(waits, "agent-3", 2), what="a look in vain")
    assert waits.looks == {"agent-0": 2, "agent-1": 2, "agent-2": 2, "agent-3": 2, "agent-4": 1}


async def test_who_has_looked_in_vain_lets_another_go_first(bench: Workbench, waits: Waits, no_probe: None) -> None:
    await an_agent(bench, "least")
    await an_agent(bench, "more", capabilities=("english",))
    for name in ("least", "more"):
        await waits.begin(name)
    for waiter in bench.runtime.waiting._waiters:  # pyright: ignore[reportPrivateUsage]
        waiter.looked_at -= waiting.REST_SECONDS
    task = await an_agents_task(bench)
    await bench.execute("INSERT INTO agent_declines (task_id, agent_id) VALUES ($1, 'least')", task.id)
    (demand,) = await demands(bench)

    bench.runtime.waiting.ring(demand)
    await eventually(lambda: looked(waits, "least", 2), what="a look in vain")
    bench.runtime.waiting.ring(demand)

    await eventually(lambda: looked(waits, "more", 2), what="a look of the other")


async def test_who_waits_for_another_space_is_not_woken(bench: Workbench, waits: Waits, no_probe: None) -> None:
    await an_agent(bench)
    await waits.begin("ann")
    await an_agents_task(bench)
    (demand,) = await demands(bench)

    bench.runtime.waiting.ring(demand._replace(space=Space("acme")))

    assert [waiter.woken.is_set() for waiter in bench.runtime.waiting._waiters] == [False]  # pyright: ignore[reportPrivateUsage]


async def test_everybody_looks_from_time_to_time_without_being_woken(
    bench: Workbench, waits: Waits, no_probe: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.05)
    await an_agent(bench)
    one = await waits.begin("ann")

    task = await an_agents_task(bench)

    assert ids_of((await one).claims) == [task.id]


async def test_a_server_that_is_to_stop_lets_nobody_wait(bench: Workbench, waits: Waits, no_probe: None) -> None:
    await an_agent(bench)
    one = await waits.begin("ann")

    waits.stopping.set()

    assert (await one).claims == []


async def test_who_may_not_stay_claims_nothing(bench: Workbench, waits: Waits) -> None:
    await an_agent(bench)
    one = await waits.begin("ann")
    waits.may_stay["ann"] = ForbiddenError(Scope.AGENT, "key:ann")

    task = await an_agents_task(bench)

    with pytest.raises(ForbiddenError):
        await one
    assert await bench.state(task) == "QUEUED"


async def test_who_hangs_up_is_passed_over(bench: Workbench, waits: Waits) -> None:
    for name in ("ann", "bob"):
        await an_agent(bench, name)
    gone, there = [await waits.begin(name) for name in ("ann", "bob")]

    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    task = await an_agents_task(bench)

    assert ids_of((await there).claims) == [task.id]


async def test_who_is_paused_does_not_wait(bench: Workbench, waits: Waits) -> None:
    await an_agent(bench)
    await bench.runtime.agents.set_status(LOCAL, "ann", AgentStatus.PAUSED)

    taken = await bench.runtime.waiting.claim(
        bench.caller, "ann", Ask(), 30, may_stay=_nothing, stopping=waits.stopping
    )

    assert (taken.claims, taken.agent.directive) == ([], "pause")


async def test_nobody_asks_the_ledger_while_nobody_waits(
    bench: Workbench, waits: Waits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PROBE_SECONDS", 0.0)
    probes: list[object] = []
    demands_waiting = offers.demands_waiting

    async def counted(executor: Executor, task_types: Sequence[str]) -> list[WaitingDemand]:
        probes.append(task_types)
        return await demands_waiting(executor, task_types)

    monkeypatch.setattr(offers, "demands_waiting", counted)
    await an_agent(bench)
    one = await waits.begin("ann")
    await eventually(lambda: _at_least_two(probes), what="two probes")

    await an_agents_task(bench)
    await one
    await eventually(lambda: _rests(bench), what="a probe that rests")
    probes.clear()
    for _ in range(TURNS):
        await asyncio.sleep(0)

    assert probes == []


async def demands(bench: Workbench) -> list[WaitingDemand]:
    return await offers.demands_waiting(bench.runtime.ledger, ["writing"])


async def looked(waits: Waits, name: str, times: int) -> bool:
    return waits.looks[name] >= times


async def _at_least_two(probes: list[object]) -> bool:
    return len(probes) >= 2


async def _rests(bench: Workbench) -> bool:
    return not bench.runtime.waiting._wanted.is_set()  # pyright: ignore[reportPrivateUsage]


async def _nothing() -> None:
    pass
