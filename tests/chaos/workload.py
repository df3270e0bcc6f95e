"""The clients: they ask for work, repeat what was not answered for certain, and interfere with what they asked for."""

import asyncio
import random
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx
from pydantic import JsonValue, TypeAdapter, ValidationError

from tests.chaos.graph_orders import GraphOrders, Known
from tests.chaos.history import HistoryWriter, Verb
from tests.chaos.orders import TEXTS, Order
from tests.chaos.terms import PREPARE_SECONDS

CLIENTS: Final = 8
ANSWER_SECONDS: Final = 3.0
PERSISTENCE_SECONDS: Final = 40.0
UNFINISHED_MAX: Final = 150
# Typed answers that ask to come again; everything else that is not a verdict is odd.
_DOUBTFUL: Final = frozenset({"database_unavailable", "idempotency_in_progress", "overloaded", "server_stopping"})
_JSON: Final[TypeAdapter[JsonValue]] = TypeAdapter(JsonValue)
_CHOICES: Final = {
    "single": 48.0, "batch": 11.0, "bulk": 4.0, "lane": 4.0, "dag": 6.0, "dependent": 8.0, "spawner": 7.0,
    "replay": 4.0, "cancel": 10.0, "retry": 7.0, "observe": 4.0,
}  # fmt: skip


class Workload:
    """All clients, and what they share: where the APIs are, and how much work waits."""

    def __init__(self, urls: Sequence[str], history: HistoryWriter, seed: int, clients: int = CLIENTS) -> None:
        self.unfinished = 0
        """Told by whoever looks at the ledger; clients hold back when it is much."""
        self.gave_up: Sequence[str] = ()
        """Tasks that can be retried, told likewise."""
        self.spawned: Sequence[str] = ()
        """Tasks of which nobody but the ledger told a client."""
        self.acknowledged = 0
        self._urls = urls
        self._history = history
        self._seed = seed
        self._clients = clients
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Ask for nothing new."""
        self._stopping.set()

    async def prepare(self) -> None:
        """Make the texts that are to be edited, while nothing is wrong yet."""
        async with httpx.AsyncClient(timeout=PREPARE_SECONDS, trust_env=False) as http:
            for text in TEXTS:
                answer = await http.post(f"{self._urls[0]}/api/documents", json={"id": text, "format": "docx"})
                answer.raise_for_status()

    async def run(self) -> None:
        """Run all clients until stopped; what was asked by then is asked to the end."""
        async with asyncio.TaskGroup() as clients:
            for number in range(self._clients):
                clients.create_task(self._client(number))

    async def _client(self, number: int) -> None:
        limits = httpx.Limits(max_connections=4)
        async with httpx.AsyncClient(timeout=ANSWER_SECONDS, limits=limits, trust_env=False) as http:
            client = _Client(self, http, self._urls, self._history, f"s{self._seed}c{number}")
            while not self._stopping.is_set():
                if self.unfinished > UNFINISHED_MAX:
                    await asyncio.sleep(0.1)
                    continue
                acknowledged = await client.do_something()
                self.acknowledged += acknowledged
                await asyncio.sleep(client.pause())


class _Client:
    def __init__(
        self, workload: Workload, http: httpx.AsyncClient, urls: Sequence[str], history: HistoryWriter, name: str
    ) -> None:
        self._workload = workload
        self._http = http
        self._urls = urls
        self._history = history
        self._dice = random.Random(name)
        self._orders = GraphOrders(name)
        self._acknowledged: deque[Known] = deque(maxlen=30)
        self._dags: deque[Known] = deque(maxlen=6)
        self._inside: deque[str] = deque(maxlen=16)

    def pause(self) -> float:
        return self._dice.uniform(0, 0.12)

    async def do_something(self) -> int:
        """Do one thing; return how many tasks were acknowledged for the first time."""
        match self._dice.choices(list(_CHOICES), list(_CHOICES.values()))[0]:
            case "single":
                return await self._submit(self._orders.single())
            case "batch":
                return await self._submit(self._orders.batch())
            case "bulk":
                return len(await self._bulk(self._orders.bulk()))
            case "lane":
                return await self._lane(*self._orders.lane())
            case "dag":
                return await self._submit_dag(self._orders.dag(self._latest()))
            case "dependent" if self._acknowledged:
                return await self._submit(self._orders.dependent(self._latest()))
            case "spawner":
                return await self._submit(self._orders.spawner())
            case "replay" if self._dags and self._dice.random() < 0.2:
                await self._submit_dag(self._dice.choice(self._dags)[0])
            case "replay" if self._acknowledged:
                order, _ = self._dice.choice(self._acknowledged)
                await self._submit(order)
            case "cancel" if self._acknowledged:
                await self._cancel()
            case "retry" if self._workload.gave_up:
                # What failed a moment ago may have siblings that still run.
                latest = self._workload.gave_up[: self._dice.choice((3, 40))]
                await self._action("retry", self._dice.choice(latest))
            case "observe" if self._acknowledged:
                await self._observe(self._dice.choice(self._acknowledged)[1])
            case _:
                return await self._submit(self._orders.single())
        return 0

    def _latest(self) -> list[Known]:
        """What was acknowledged a moment ago, and mostly has not ended."""
        return list(self._acknowledged)[-self._dice.choice((3, 8)) :]

    async def _cancel(self) -> None:
        """Cancel mostly what was asked for a moment ago, or it would have ended by now."""
        dice = self._dice
        if self._dags and dice.random() < 0.15:
            await self._action("cancel_dag", self._dags[-1][1])
        elif self._workload.spawned and dice.random() < 0.12:
            await self._action("cancel", dice.choice(self._workload.spawned))
        elif self._inside and dice.random() < 0.4:
            await self._action("cancel", dice.choice(self._inside))
        else:
            recent = self._acknowledged[-1] if dice.random() < 0.7 else dice.choice(self._acknowledged)
            await self._action("cancel", recent[1])

    async def _submit_dag(self, order: Order) -> int:
        number = self._history.invoke("dag", wanted=(order.wanted,))
        answer = await self._persist(number, "/api/dags", order.body, {"Idempotency-Key": order.key})
        if answer is None or answer.status_code not in (200, 201):
            return 0
        found = _object(answer)
        self._inside.extend(_ids(found["tasks"]))
        is_new = all(known.key != order.key for known, _ in self._dags)
        self._dags.append((order, str(found["id"])))
        return len(order.wanted.children) if is_new else 0

    async def _submit(self, order: Order) -> int:
        number = self._history.invoke("submit", wanted=(order.wanted,))
        answer = await self._persist(number, "/api/tasks", order.body)
        if answer is None or answer.status_code not in (200, 201):
            return 0
        found = _object(answer)
        task_id = str(found["id"])
        self._inside.extend(_ids(found["children"]))
        is_new = all(known.key != order.key for known, _ in self._acknowledged)
        self._acknowledged.append((order, task_id))
        return (1 + _descendants(order)) if is_new else 0

    async def _lane(self, edits: list[Order], urgent: list[Order]) -> int:
        """Ask for many edits in a row; while these are done, cancel one that is about to be, and interpose others."""
        ids = await self._bulk(edits)
        if ids and self._dice.random() < 0.5:
            await self._action("cancel", self._dice.choice(ids))
        count = len(ids)
        for order in urgent:
            await asyncio.sleep(self._dice.uniform(0, 0.3))
            count += await self._submit(order)
        return count

    async def _bulk(self, orders: list[Order]) -> tuple[str, ...]:
        """Return the ids of the tasks that were acknowledged for the first time."""
        number = self._history.invoke("bulk", wanted=tuple(order.wanted for order in orders))
        answer = await self._persist(number, "/api/tasks/bulk", [order.body for order in orders])
        if answer is None or answer.status_code != 201:
            return ()
        return tuple(_ids(_JSON.validate_json(answer.content)))

    async def _action(self, verb: Verb, target: str) -> None:
        number = self._history.invoke(verb, target=target)
        path = f"/api/dags/{target}/cancel" if verb == "cancel_dag" else f"/api/tasks/{target}/{verb}"
        await self._persist(number, path, {})

    async def _observe(self, task_id: str) -> None:
        number = self._history.invoke("observe", target=task_id)
        self._history.attempt(number)
        try:
            wait = self._dice.choice(("", "?wait=1"))
            answer = await self._http.get(f"{self._dice.choice(self._urls)}/api/tasks/{task_id}{wait}")
        except httpx.HTTPError:
            return
        self._judge(number, answer)

    async def _persist(
        self, number: int, path: str, body: Any, headers: Mapping[str, str] | None = None
    ) -> httpx.Response | None:
        """Ask until there is a verdict, of one API or the other."""
        deadline = time.monotonic() + PERSISTENCE_SECONDS
        while time.monotonic() < deadline:
            self._history.attempt(number)
            try:
                answer = await self._http.post(f"{self._dice.choice(self._urls)}{path}", json=body, headers=headers)
            except httpx.HTTPError:
                answer = None
            if answer is not None and self._judge(number, answer):
                return answer
            await asyncio.sleep(self._dice.uniform(0.05, 0.4))
        return None

    def _judge(self, number: int, answer: httpx.Response) -> bool:
        """Write a verdict down and say that it was one."""
        try:
            found = _JSON.validate_json(answer.content)
        except ValidationError:
            self._history.odd(number, f"{answer.status_code} without JSON: {answer.text[:200]}")
            return False
        code = found.get("code") if isinstance(found, dict) else None
        if code in _DOUBTFUL:
            return False
        # What it would depend on may have been cancelled meanwhile; the checker knows.
        is_verdict = answer.status_code in (200, 201, 202, 409) or code == "invalid_reference"
        if not is_verdict:
            self._history.odd(number, f"{answer.status_code} {code}: {answer.text[:200]}")
            return answer.status_code < 500
        verdict = None if code is None else str(code)
        if isinstance(found, dict) and "tasks" in found:
            ids, dag_id = _ids(found["tasks"]), str(found["id"])
            self._history.answer(number, answer.status_code, code=verdict, task_ids=ids, dag_id=dag_id)
            return True
        several: list[JsonValue] = found if isinstance(found, list) else [found]
        tasks = [one for one in several if isinstance(one, dict) and "id" in one]
        state = str(tasks[0]["state"]) if tasks else None
        self._history.answer(number, answer.status_code, code=verdict, task_ids=_ids(several), state=state)
        return True


def _object(answer: httpx.Response) -> dict[str, JsonValue]:
    found = _JSON.validate_json(answer.content)
    assert isinstance(found, dict)
    return found


def _ids(several: JsonValue) -> list[str]:
    if not isinstance(several, list):
        return []
    return [str(one["id"]) for one in several if isinstance(one, dict) and "id" in one]


def _descendants(order: Order) -> int:
    found = list(order.wanted.children)
    for one in found:
        found.extend(one.children)
    return len(found)
