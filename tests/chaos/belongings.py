"""Belongings: what a space of strangers asks for, and where the other could look for it."""

import random
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.chaos.sightings import concealed_in, word_of

TYPE: Final = "chaos.stranger"
DOCUMENT: Final = "the-same"
CONCEALED: Final = "the-same-too"
PAUSED: Final = "the-same-for-ever"
"""A document that nothing is asked for, and that is paused all the time."""
_LATEST: Final = 20
_FAILING: Final = 0.2
_DAGS: Final = 0.25
"""How much of what is asked for is a DAG."""

Body: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Belongings:
    """What one space has asked for so far."""

    space: str
    asked: int = 0
    """How many tasks, those included that it was not told were stored."""
    tasks: list[str] = field(default_factory=list[str])
    doomed: list[str] = field(default_factory=list[str])
    """Tasks that fail, and then have a letter."""
    dags: list[str] = field(default_factory=list[str])

    def word(self, *places: str | None) -> str:
        """Return what is to stand in something of these places: a guest sees what is all of its document."""
        return word_of(self.space) if set(places) == {DOCUMENT} else concealed_in(self.space)

    def wish(self, dice: random.Random) -> tuple[str, Body]:
        """Return where the next thing is asked for, and what."""
        path, body = ("dags", self._dag(dice)) if dice.random() < _DAGS else ("tasks", self._single(dice))
        self.asked += len(_tasks_in(body))
        return path, body

    def keep(self, body: Body, stored: Body) -> None:
        """Remember what was stored."""
        for asked, found in zip(_tasks_in(body), _tasks_in(stored), strict=True):
            self.tasks.append(str(found["id"]))
            if asked["payload"]["fails"]:
                self.doomed.append(self.tasks[-1])
        if "tasks" in stored:
            self.dags.append(str(stored["id"]))

    def paths(self, dice: random.Random) -> list[str]:
        """Return where one of the latest of each kind could be looked at."""
        kinds = {
            "tasks/{}": self.tasks,
            "tasks/{}/explain": self.tasks,
            "dead-letters/{}": self.doomed,
            "dags/{}": self.dags,
        }
        return [path.format(dice.choice(ids[-_LATEST:])) for path, ids in kinds.items() if ids]

    def _single(self, dice: random.Random) -> Body:
        place = _place(dice)
        # The same key in both spaces, and not the same for all that.
        named = {"title": self.word(place), "idempotencyKey": f"key {dice.randrange(10_000)}"}
        return self._task(dice, place) | named

    def _dag(self, dice: random.Random) -> Body:
        places = _place(dice), _place(dice)
        first, second = (self._task(dice, place) for place in places)
        tasks = [first | {"key": "a"}, second | {"key": "b", "dependsOn": ["a"]}]
        return {"title": self.word(*places), "tasks": tasks}

    def _task(self, dice: random.Random, place: str | None) -> Body:
        payload = {"word": self.word(place), "fails": dice.random() < _FAILING}
        where = {} if place is None else {"documentId": place}
        return {"taskType": TYPE, "payload": payload, "maxRetries": 0, **where}


def _place(dice: random.Random) -> str | None:
    return dice.choice((DOCUMENT, CONCEALED, None))


def _tasks_in(body: Body) -> list[Body]:
    tasks: list[Body] = body.get("tasks", [body])
    return tasks
