"""What the clients ask for: bodies drawn from a seed, each with a token by which its tasks are known again."""

import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from tests.chaos.history import Wanted

DOCUMENTS: Final = tuple(f"doc-{number:02d}" for number in range(40))
TEXTS: Final = tuple(f"text-{number}" for number in range(3))
"""Real documents, in lanes of their own."""
EDIT: Final = "add_chapter"
SKEW: Final = 1.1
LONGEST_BATCH: Final = 8
LONGEST_BULK: Final = 20
LONGEST_LANE: Final = 30

Body: TypeAlias = dict[str, Any]

_ZIPF: Final = [1 / (rank + 1) ** SKEW for rank in range(len(DOCUMENTS))]
PRIORITIES: Final = ("CRITICAL", "HIGH", "NORMAL", "LOW", "BACKGROUND")
_NATURES: Final = {
    "quick": 60.0,
    "busy": 12.0,
    "steady": 4.0,
    "flaky": 7.0,
    "child": 6.0,
    "slow": 4.0,
    "hopeless": 2.0,
    "overlong": 0.7,
    "killer_of_children": 0.5,
    "killer_of_workers": 0.12,
}
_NATURES_OF_CHILDREN: Final = ("quick", "quick", "quick", "busy", "busy", "flaky", "hopeless", "child")


@dataclass(frozen=True, slots=True)
class Order:
    """A body to POST, and what is wanted by it."""

    body: Body
    wanted: Wanted

    @property
    def key(self) -> str:
        """Its idempotency key."""
        return self.wanted.token

    @property
    def priority(self) -> str:
        """How urgent it is."""
        return str(self.body.get("priority", "NORMAL"))


class Orders:
    """One client's orders, one after the other."""

    def __init__(self, seed: str) -> None:
        self._dice = random.Random(seed)
        self._name = seed
        self._count = 0

    def single(self) -> Order:
        """A task by itself."""
        dice = self._dice
        token = self._token()
        nature = dice.choices(list(_NATURES), list(_NATURES.values()))[0]
        body = self._leaf(token, nature)
        # What is slow sits anywhere, or the hottest would never be done.
        anywhere = dice.choice((None, *dice.sample(DOCUMENTS, 3)))
        document = anywhere if nature in ("steady", "slow", "overlong") else self._document()
        if document is not None:
            body["documentId"] = document
        run_at: float | None = None
        if dice.random() < 0.05:
            run_at = time.time() + dice.uniform(0.2, 2.5)
            body["runAt"] = datetime.fromtimestamp(run_at, UTC).isoformat()
        if dice.random() < 0.3:
            body["priority"] = dice.choice(PRIORITIES)
        return Order(body | {"idempotencyKey": token}, Wanted(token, run_at=run_at))

    def batch(self) -> Order:
        """A parent with children, sometimes with batches among them."""
        token = self._token()
        body, wanted = self._family(token, depth=0)
        document = self._document()
        if document is not None:
            body["documentId"] = document
        return Order(body | {"idempotencyKey": token}, wanted)

    def bulk(self) -> list[Order]:
        """Several small tasks for one request."""
        return [self._small() for _ in range(self._dice.randint(2, LONGEST_BULK))]

    def lane(self) -> tuple[list[Order], list[Order]]:
        """Many edits of one text for one request, and one or two that are more urgent."""
        text = self._dice.choice(TEXTS)
        edits = [self._edit(text) for _ in range(self._dice.randint(LONGEST_LANE // 2, LONGEST_LANE))]
        return edits, [self._edit(text, priority="CRITICAL") for _ in range(self._dice.randint(1, 2))]

    def _edit(self, text: str, **options: Any) -> Order:
        token = self._token()
        body = {"taskType": EDIT, "title": token, "documentId": text, "payload": {"title": token}, **options}
        return Order(body | {"idempotencyKey": token}, Wanted(token))

    def _small(self) -> Order:
        token = self._token()
        body = self._leaf(token, "quick")
        document = self._document()
        if document is not None:
            body["documentId"] = document
        return Order(body | {"idempotencyKey": token}, Wanted(token))

    def _family(self, token: str, *, depth: int) -> tuple[Body, Wanted]:
        dice = self._dice
        goes_on = dice.random() < 0.4
        children: list[Body] = []
        wanted: list[Wanted] = []
        for position in range(dice.randint(2, LONGEST_BATCH if depth == 0 else 3)):
            inner = f"{token}/{position}"
            if depth < 2 and position and dice.random() < 0.12:
                body, below = self._family(inner, depth=depth + 1)
            else:
                body, below = self._leaf(inner, dice.choice(_NATURES_OF_CHILDREN)), Wanted(inner)
                if position == 0:
                    body["key"] = "first"
                elif dice.random() < 0.2:
                    body["payload"]["echo"] = {"$ref": "first.token"}
                if dice.random() < 0.15:
                    body["documentId"] = dice.choice(DOCUMENTS)
            children.append(body)
            wanted.append(below)
        policy = "continue" if goes_on else "abort"
        return {"title": token, "children": children, "onChildFailure": policy}, Wanted(token, tuple(wanted), policy)

    def _leaf(self, token: str, nature: str) -> Body:
        dice = self._dice
        payload: Body = {"token": token, "seconds": round(dice.uniform(0, 0.02), 3)}
        body: Body = {"taskType": "chaos.work", "title": token, "payload": payload}
        match nature:
            case "busy":
                payload["seconds"] = round(dice.uniform(0.05, 0.4), 3)
            case "steady":
                payload["seconds"] = round(dice.uniform(0.6, 1.6), 3)
            case "flaky":
                payload["fails_until"] = dice.randint(2, 4)
                body["onRetry"] = dice.choice(("block", "block", "yield"))
                if dice.random() < 0.3:
                    body["maxRetries"] = dice.randint(1, 2)
            case "child":
                body["taskType"] = "chaos.child"
                payload["seconds"] = round(dice.uniform(0, 0.3), 3)
            case "slow":
                payload["seconds"] = round(dice.uniform(2.2, 4), 3)
            case "hopeless":
                payload["is_hopeless"] = True
            case "overlong":
                payload["seconds"] = 30
                body |= {"timeoutSeconds": 0.7, "maxRetries": 1}
            case "killer_of_children":
                body["taskType"] = "chaos.child"
                payload["exits"] = True
            case "killer_of_workers":
                payload |= {"exits": True, "seconds": 0.5}
            case _:
                pass
        return body

    def _document(self) -> str | None:
        if self._dice.random() < 0.25:
            return None
        return self._dice.choices(DOCUMENTS, _ZIPF)[0]

    def _token(self) -> str:
        self._count += 1
        return f"{self._name}-{self._count}"
