"""What strangers take for a hole, and what they ask for so that a hole would show."""

import json
import random

import pytest

from tests.chaos.belongings import DOCUMENT, Belongings
from tests.chaos.sightings import THRESHOLDS, Sightings, concealed_in, word_of


@pytest.mark.parametrize(
    "answer",
    [
        {"title": word_of("south")},
        {"by": f"key:{word_of('south')}"},
        {"error": {"message": f"It failed: {concealed_in('south')}"}},
        {"failureThreshold": THRESHOLDS["south"]},
    ],
)
def test_what_is_of_the_other_space_is_a_sighting(answer: object) -> None:
    seen = Sightings()

    seen.judge("north", "GET /api/something", json.dumps([answer], separators=(",", ":")))

    assert len(seen.across) == 1


def test_what_is_of_ones_own_space_is_none() -> None:
    seen = Sightings()
    own = {"title": word_of("north"), "failureThreshold": THRESHOLDS["north"]}

    seen.judge("north", "GET /api/something", json.dumps([own], separators=(",", ":")))
    seen.judge_figures("north", 5, asked=5)
    seen.judge_heard("north", {"one", "another"}, {"a third"})
    seen.judge_guest("north", "GET /api/something", word_of("north"))

    assert (seen.across, seen.beyond, seen.looks) == ([], [], 2)


def test_more_tasks_than_were_asked_for_are_of_another_space() -> None:
    seen = Sightings()

    seen.judge_figures("north", 6, asked=5)

    assert len(seen.across) == 1


def test_an_event_of_the_other_space_is_a_sighting() -> None:
    seen = Sightings()

    seen.judge_heard("north", {"own", "theirs"}, {"theirs", "unheard"})

    assert seen.across == ["the stream told north of theirs of south"]


def test_what_is_concealed_is_not_for_guests() -> None:
    seen = Sightings()

    seen.judge_guest("north", "GET /api/something", json.dumps({"title": concealed_in("north")}))

    assert (len(seen.beyond), seen.across) == (1, [])


def test_what_is_asked_for_says_whose_it_is_and_is_concealed_unless_it_is_all_of_the_one_document() -> None:
    dice, own = random.Random(1), Belongings("north")

    for number in range(300):
        path, body = own.wish(dice)
        tasks = body.get("tasks", [body])
        for one, places in [(body["title"], tasks), *((task["payload"]["word"], [task]) for task in tasks)]:
            is_open = all(task.get("documentId") == DOCUMENT for task in places)
            assert one == (word_of("north") if is_open else concealed_in("north"))
        stored = [{"id": f"{number} {place}"} for place in range(len(tasks))]
        own.keep(body, stored[0] if path == "tasks" else {"id": f"DAG {number}", "tasks": stored})

    assert own.asked == len(own.tasks) == 300 + len(own.dags)
    assert 0 < len(own.doomed) < len(own.tasks)
    assert {path.partition("/")[0] for path in own.paths(dice)} == {"tasks", "dead-letters", "dags"}
