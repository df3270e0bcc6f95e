"""What keys are narrowed to: which names an entry stands for, and which entries lie within others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.api_key import ApiKey
from officeplane.domain.errors import InvalidRequestError
from officeplane.domain.ids import KeyId
from officeplane.domain.narrowing import ALL_AFTER, Entries, Narrowing, fits, lies_within
from officeplane.domain.principal import ANYBODY, LOCAL, SYSTEM, Scope
from tests.domain.test_api_key import KEY

NAMES = st.text("ab%_-\\.", min_size=1, max_size=4)
ENTRIES = st.one_of(st.just("-"), NAMES, st.builds("{}*".format, NAMES), st.just("*"))
LISTS = st.one_of(st.none(), st.lists(ENTRIES, min_size=1, max_size=3).map(tuple))


@given(ENTRIES, LISTS, st.one_of(st.none(), NAMES.filter(lambda name: name != "-")))
def test_what_lies_within_stands_for_nothing_that_the_other_does_not(
    entry: str, outer: Entries, name: str | None
) -> None:
    if lies_within(entry, outer) and fits(name, (entry,)):
        assert fits(name, outer)


@given(LISTS)
def test_every_list_lies_within_itself_and_within_all(entries: Entries) -> None:
    only = Narrowing(entries)

    assert only.beyond(only) is None
    assert only.beyond(Narrowing()) is None


@pytest.mark.parametrize(
    ("inner", "outer", "beyond"),
    [
        (Narrowing(), Narrowing(documents=("a*",)), ("document", ALL_AFTER)),
        (Narrowing(), Narrowing(documents=("*",)), ("document", ALL_AFTER)),
        (Narrowing(documents=("a", "b")), Narrowing(documents=("a*",)), ("document", "b")),
        (Narrowing(documents=("a*",)), Narrowing(documents=("ab*", "a")), ("document", "a*")),
        (Narrowing(documents=("-",)), Narrowing(documents=("*",)), ("document", "-")),
        (Narrowing(documents=("*",)), Narrowing(documents=("-",)), ("document", "*")),
        (Narrowing(task_types=("noop",)), Narrowing(task_types=("noo",)), ("task type", "noop")),
        (Narrowing(), Narrowing(agents=("writer-*",)), ("agent", ALL_AFTER)),
        (Narrowing(most_urgent=9), Narrowing(most_urgent=10), ("priority", "9")),
        (Narrowing(documents=("ab*", "-")), Narrowing(documents=("a*", "-")), None),
        (Narrowing(most_urgent=10), Narrowing(most_urgent=10), None),
    ],
)
def test_what_is_given_beyond_what_the_giver_has_is_named(
    inner: Narrowing, outer: Narrowing, beyond: tuple[str, str] | None
) -> None:
    assert inner.beyond(outer) == beyond


@pytest.mark.parametrize(
    ("only", "fields"),
    [
        (Narrowing(documents=()), ["documents"]),
        (Narrowing(documents=("a",) * 101), ["documents"]),
        (Narrowing(documents=("plan", "")), ["documents.1"]),
        (Narrowing(documents=("other/plan",)), ["documents.0"]),
        (Narrowing(documents=("-*",)), ["documents.0"]),
        (Narrowing(documents=("a*b",)), ["documents.0"]),
        (Narrowing(documents=("a**",)), ["documents.0"]),
        (Narrowing(documents=("%",)), ["documents.0"]),
        (Narrowing(documents=("plan\n",)), ["documents.0"]),
        (Narrowing(task_types=("-",)), ["taskTypes.0"]),
        (Narrowing(task_types=("a\x00",)), ["taskTypes.0"]),
        (Narrowing(task_types=("a\ud800",)), ["taskTypes.0"]),
        (Narrowing(task_types=("x" * 202,)), ["taskTypes.0"]),
        (Narrowing(agents=("a b",)), ["agents.0"]),
        (Narrowing(documents=("a b",), agents=("/",)), ["documents.0", "agents.0"]),
    ],
)
def test_an_entry_that_can_be_no_name_is_refused_where_it_stands(only: Narrowing, fields: list[str]) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        only.check()

    assert [error.field for error in refused.value.errors] == fields


@pytest.mark.parametrize(
    "only",
    [
        Narrowing(),
        Narrowing(documents=("-", "*", "a*", "Plan_1.2:3-x", "a" * 128 + "*")),
        Narrowing(task_types=("noop", "billing.*", "*", "ein Typ", "_%\\")),
        Narrowing(agents=("ann@example.org", "writer-*"), most_urgent=100),
    ],
)
def test_names_and_beginnings_of_names_are_taken(only: Narrowing) -> None:
    only.check()


@pytest.mark.parametrize("name", ["local", "anybody", "system", "local:ann", "environment"])
def test_no_name_makes_a_key_somebody_of_another_kind(name: str) -> None:
    key = ApiKey(KeyId("id"), name, "opk_abcd", frozenset(Scope), "local:ann", KEY.created_at)

    assert key.principal.id == f"key:{name}"
    assert key.principal.id not in {LOCAL.id, ANYBODY.id, SYSTEM.id, name}
