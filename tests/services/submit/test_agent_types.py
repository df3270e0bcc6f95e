"""The types that agents do without a declaration: what their payloads look like, and who else may have their names."""

import json
from types import ModuleType
from typing import Any, Final

import pytest

from officeplane.domain.demand import AgentOptions
from officeplane.handlers.agent_types import AGENT_TYPES
from officeplane.handlers.catalogue import load_catalogue
from officeplane.handlers.context import Context
from officeplane.handlers.contract import NoPayload, TaskType, handler

WORK: Final = ("code", "research", "review", "test", "deploy", "synthesis", "orchestrate")
TASK: Final = "01890a5d-ac96-774b-bcce-b302099a8057"
SHA256: Final = "0" * 64


def wrong_in(name: str, payload: dict[str, Any]) -> list[tuple[object, ...]]:
    """Return where a payload does not fit a type."""
    found = load_catalogue().find(name).errors_in(json.dumps(payload))
    return [tuple(one["loc"]) for one in found]


def test_there_are_eight_and_no_worker_may_claim_them() -> None:
    catalogue = load_catalogue()

    assert {known.name for known in AGENT_TYPES} == {*WORK, "judge"}
    assert {name for name, known in catalogue.types.items() if known.executor == "agent"} == {*WORK, "judge"}
    assert not {*WORK, "judge"} & set(catalogue.runnable)


def test_six_of_them_want_a_report_of_what_was_decided() -> None:
    wanting = {known.name for known in AGENT_TYPES if (known.asks or AgentOptions()).require_decision_report}

    assert wanting == {*WORK} - {"orchestrate"}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize(
    "payload",
    [
        {"goal": "It works."},
        {"prompt": "Make it work."},
        {
            "goal": "It works.",
            "prompt": "Make it work.",
            "action": "fix",
            "target": "src/importer.py",
            "params": {"depth": 2, "files": ["a"]},
            "constraints": ["No other dependency"],
            "context": {"relatedFiles": ["a"], "previousAttempts": None},
            "contextRefs": [f"artifact:{SHA256}", f"task:{TASK}.output.text", "document:plan_1.2@3"],
        },
        {"goal": "It works.", "context": "It worked before."},
    ],
)
def test_work_has_a_goal_or_a_prompt_and_what_it_takes(name: str, payload: dict[str, Any]) -> None:
    assert wrong_in(name, payload) == []


@pytest.mark.parametrize(
    ("payload", "place"),
    [
        ({}, ()),
        ({"target": "a"}, ()),
        ({"goal": None, "prompt": None}, ()),
        ({"goal": ""}, ("goal",)),
        ({"goal": 5}, ("goal",)),
        ({"goal": "g", "wish": "w"}, ("wish",)),
        ({"goal": "g", "context_refs": []}, ("context_refs",)),
        ({"goal": "g", "constraints": "none"}, ("constraints",)),
        ({"goal": "g", "params": []}, ("params",)),
    ],
)
def test_what_is_no_work_is_refused_at_its_field(payload: dict[str, Any], place: tuple[object, ...]) -> None:
    assert wrong_in("code", payload) == [place]


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "plan@3",
        f"artifact:{SHA256[1:]}",
        f"artifact:{SHA256[1:]}G",
        f"task:{TASK}",
        f"task:{TASK}.",
        f"task:{TASK[1:]}.output",
        "document:plan",
        "document:plan@0",
        "document:-plan@1",
        "document:plan@1\n",
        "url:http://example.org",
    ],
)
def test_a_reference_that_is_spelled_otherwise_is_refused(reference: str) -> None:
    assert wrong_in("code", {"goal": "g", "contextRefs": [reference]}) == [("contextRefs", 0)]


@pytest.mark.parametrize("output", ["Hello", {"text": "Hello"}, None, ["a"]])
def test_anything_can_be_judged(output: object) -> None:
    payload = {"rubric": "Is it polite?", "threshold": 0.5, "output": output}

    assert wrong_in("judge", payload) == []
    assert wrong_in("judge", {**payload, "input": {"asked": "Greet"}, "threshold": 1}) == []


@pytest.mark.parametrize(
    ("payload", "place"),
    [
        ({"threshold": 0.5, "output": 1}, "rubric"),
        ({"rubric": "r", "output": 1}, "threshold"),
        ({"rubric": "r", "threshold": 0.5}, "output"),
        ({"rubric": "r", "threshold": 1.1, "output": 1}, "threshold"),
        ({"rubric": "r", "threshold": -0.1, "output": 1}, "threshold"),
        ({"rubric": "r", "threshold": "0.5", "output": 1}, "threshold"),
        ({"rubric": "r", "threshold": 0.5, "output": 1, "goal": "g"}, "goal"),
    ],
)
def test_a_judge_is_told_by_which_measure(payload: dict[str, Any], place: str) -> None:
    assert wrong_in("judge", payload) == [(place,)]


def test_a_handler_of_the_same_name_is_what_counts() -> None:
    @handler("review", title="Ours")
    async def review(_payload: NoPayload, _context: Context) -> None:
        """Return at once."""

    module = ModuleType("acme")
    module.review = review  # type: ignore[attr-defined]

    catalogue = load_catalogue([module])

    known: TaskType = catalogue.find("review")
    assert (known.title, known.executor) == ("Ours", "worker")
    assert "review" in catalogue.runnable
    assert catalogue.find("code").executor == "agent"


@pytest.mark.parametrize("known", AGENT_TYPES, ids=lambda known: known.name)
def test_every_example_fits(known: TaskType) -> None:
    examples = known.payload_schema["examples"]

    assert examples
    assert [wrong_in(known.name, example) for example in examples] == [[]] * len(examples)
