"""What the clients ask for that waits for something else: dependents, DAGs, and tasks that spawn others."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from tests.chaos.history import Wanted
from tests.chaos.orders import DOCUMENTS, PRIORITIES, Body, Order, Orders

SPAWNERS: Final = ("chaos.spawner", "chaos.child_spawner")
NODES_MAX: Final = 7
ERRANDS_MAX: Final = 3

Known: TypeAlias = tuple[Order, str]
"""An order that was acknowledged, and the id of its task."""

_NATURES_OF_NODES: Final = {
    "quick": 50.0,
    "busy": 14.0,
    "flaky": 12.0,
    "child": 6.0,
    "hopeless": 5.0,
    "steady": 4.0,
    "slow": 2.0,
    "killer_of_children": 0.5,
}
_SHAPES: Final = ("chain", "fan_in", "diamond", "any", "any")
_NATURES_OF_ERRANDS: Final = ("quick", "quick", "quick", "busy", "busy", "flaky", "hopeless", "child")


class GraphOrders(Orders):
    """One client's orders, those that wait for others among them."""

    def dependent(self, known: Sequence[Known]) -> Order:
        """A task that depends on some that were asked for before."""
        order = self.single()
        needed = self._dice.sample(known, min(len(known), self._dice.choice((1, 1, 2, 3))))
        ids = [task_id for _, task_id in needed]
        # What urgent work waits for is moved ahead in its lane, and nobody could tell later when that was.
        urgency = {"priority": _least_urgent([order, *(one for one, _ in needed)])}
        return Order(order.body | {"dependsOn": ids} | urgency, replace(order.wanted, needs=tuple(ids)))

    def spawner(self) -> Order:
        """A task whose handler spawns others and, mostly, waits for them."""
        token = self._token()
        body, wanted = self._delegation(token, self._document())
        return Order(body | {"idempotencyKey": token}, wanted)

    def dag(self, known: Sequence[Known]) -> Order:
        """Tasks that depend on each other, the first sometimes on one that was asked for before."""
        dice = self._dice
        token = self._token()
        needs = self._shape(dice.randint(3, NODES_MAX))
        outside = [task_id for order, task_id in known if _is_as_urgent(order)]
        bodies: list[Body] = []
        wanted: list[Wanted] = []
        for number, before in enumerate(needs):
            inner = f"{token}+{number}"
            if dice.random() < 0.1:
                body, node = self._delegation(inner, None)
            else:
                nature = dice.choices(list(_NATURES_OF_NODES), list(_NATURES_OF_NODES.values()))[0]
                body, node = self._leaf(inner, nature), Wanted(inner)
            if before and dice.random() < 0.3:
                given = dice.choice(before)
                body["payload"]["echo"] = {"$ref": f"n{given}.token"}
                node = replace(node, echo=f"{token}+{given}")
            if dice.random() < 0.2:
                body["documentId"] = dice.choice(DOCUMENTS)
            others = [dice.choice(outside)] if not number and outside and dice.random() < 0.15 else []
            body |= {"key": f"n{number}", "dependsOn": [*(f"n{one}" for one in before), *others]}
            bodies.append(body)
            wanted.append(replace(node, needs=(*(f"{token}+{one}" for one in before), *others)))
        return Order({"title": token, "tasks": bodies}, Wanted(token, tuple(wanted)))

    def _shape(self, count: int) -> list[list[int]]:
        """Return for each of so many nodes which of those before it it depends on."""
        last = count - 1
        match self._dice.choice(_SHAPES):
            case "chain":
                return [[], *([number] for number in range(last))]
            case "fan_in":
                return [*([] for _ in range(last)), list(range(last))]
            case "diamond":
                return [[], *([0] for _ in range(count - 2)), list(range(1, last))]
            case _:
                return [
                    sorted(self._dice.sample(range(number), min(number, self._dice.randint(0, 3))))
                    for number in range(count)
                ]

    def _delegation(self, token: str, document: str | None) -> tuple[Body, Wanted]:
        dice = self._dice
        body = self._leaf(token, dice.choice(("quick", "quick", "busy", "flaky")))
        body["taskType"] = dice.choice((SPAWNERS[0], SPAWNERS[0], SPAWNERS[1]))
        spawns = tuple(f"{token}>{number}" for number in range(dice.randint(1, ERRANDS_MAX)))
        waits = dice.random() < 0.65
        body["payload"] |= {"errands": [self._errand(one, document) for one in spawns], "waits": waits}
        if document is not None:
            body["documentId"] = document
        return body, Wanted(token, spawns=spawns, waits=waits)

    def _errand(self, token: str, document: str | None) -> Body:
        leaf = self._leaf(token, self._dice.choice(_NATURES_OF_ERRANDS))
        errand: Body = {"task_type": leaf["taskType"], "payload": leaf["payload"]}
        if document is not None and self._dice.random() < 0.4:
            errand["document_id"] = document
        return errand


def _least_urgent(orders: Iterable[Order]) -> str:
    return max((order.priority for order in orders), key=PRIORITIES.index)


def _is_as_urgent(order: Order) -> bool:
    """Whether it is no less urgent than what has no priority of its own."""
    return PRIORITIES.index(order.priority) <= PRIORITIES.index("NORMAL")
