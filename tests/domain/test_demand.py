"""Demands: what a task asks of agents, put together of what it says and what its type does."""

from typing import Any

import pytest

from officeplane.domain.demand import AgentOptions, AgentTerms, Demand, demand_of, terms_of
from officeplane.domain.space import DEFAULT, Space


def options(**given: Any) -> AgentOptions:
    return AgentOptions.model_validate(given, by_alias=False, by_name=True)


def demanded(asked: AgentOptions, of_type: AgentOptions | None = None) -> Demand:
    return demand_of(DEFAULT, "code", asked, of_type or options())


def test_capabilities_are_a_set_and_models_an_order() -> None:
    asked = options(
        required_capabilities=["python", "git", "python"], models=["b", "a", "b"], fallback_models=["d", "c", "d"]
    )

    assert demanded(asked) == Demand(DEFAULT, "code", ("git", "python"), ("b", "a"), ("d", "c"))


def test_what_is_left_open_is_as_the_type_has_it_and_what_is_said_is_not() -> None:
    of_type = options(required_capabilities=["git"], models=["a"], fallback_models=["b"])

    assert demanded(options(), of_type) == demanded(of_type)
    assert demanded(options(required_capabilities=[], models=["c"]), of_type) == Demand(
        DEFAULT, "code", (), ("c",), ("b",)
    )


def test_demands_that_ask_the_same_have_one_digest_and_all_others_another() -> None:
    asked = demanded(options(required_capabilities=["git", "python"], models=["a"]))
    others = [
        asked._replace(space=Space("acme")),
        asked._replace(task_type="review"),
        asked._replace(capabilities=("git,python",)),
        asked._replace(models=(), fallback_models=("a",)),
        asked._replace(models=("a", "b")),
    ]

    assert demanded(options(required_capabilities=["python", "git"], models=["a"])).digest == asked.digest
    assert asked._replace(id=5).digest == asked.digest
    assert len({one.digest for one in [asked, *others]}) == 1 + len(others)


@pytest.mark.parametrize(
    ("asked", "of_type", "terms"),
    [
        ({}, {}, None),
        ({"require_decision_report": False}, {}, None),
        ({"require_decision_report": True}, {}, AgentTerms(require_decision_report=True)),
        ({}, {"require_decision_report": True}, AgentTerms(require_decision_report=True)),
        ({"require_decision_report": False}, {"require_decision_report": True}, None),
        ({"output": {"type": "code"}}, {"output": {"type": "json"}}, AgentTerms(output="code")),
        ({}, {"output": {"type": "json"}}, AgentTerms(output="json")),
    ],
)
def test_what_else_a_task_asks_is_said_by_it_or_its_type(
    asked: dict[str, Any], of_type: dict[str, Any], terms: AgentTerms | None
) -> None:
    assert terms_of(options(**asked), options(**of_type)) == terms


@pytest.mark.parametrize(
    ("models", "fallback", "expected"),
    [
        ([], [], [(), (), ()]),
        (["a"], [], [("a",), ("a",), ("a",)]),
        (["a"], ["b"], [("a",), ("a",), ("b",)]),
        ([], ["b"], [(), (), ("b",)]),
    ],
)
def test_from_the_second_charged_failure_on_the_fallback_models_count_if_there_are_any(
    models: list[str], fallback: list[str], expected: list[tuple[str, ...]]
) -> None:
    demand = demanded(options(models=models, fallback_models=fallback))

    assert [demand.models_after(failures) for failures in (0, 1, 2)] == expected
    assert demand.models_after(3) == expected[2]
