import pytest

from officeplane.dispatch import Keyspace
from officeplane.domain.priority import Tier
from officeplane.domain.space import DEFAULT, Space


def test_the_lists_are_named_as_documented() -> None:
    keys = Keyspace("officeplane")

    assert [keys.hint_list(tier) for tier in Tier] == [
        "officeplane:critical",
        "officeplane:high",
        "officeplane:tasks",
        "officeplane:low",
    ]


@pytest.mark.parametrize("prefix", ["officeplane", "{op}", "a:b"])
def test_every_key_and_channel_carries_the_prefix_and_is_its_own(prefix: str) -> None:
    keys = Keyspace(prefix)

    names = [
        *keys.hint_lists,
        *keys.hint_lists_of(Space("acme")),
        *keys.turns,
        *keys.wakes,
        keys.lock("d"),
        keys.parked("d"),
        keys.set_aside,
        keys.probe,
        keys.events,
        keys.control,
    ]

    assert all(name.startswith(f"{prefix}:") for name in names)
    assert len(set(names)) == len(names)


def test_locks_are_named_as_documented() -> None:
    assert Keyspace("officeplane").lock("abc") == "officeplane:doclock:abc"
    assert Keyspace("officeplane").parked("abc") == "officeplane:parked:abc"


def test_the_lists_of_a_space_lead_back_to_it() -> None:
    keys = Keyspace("a:b")

    assert keys.hint_list(Tier.NORMAL, Space("acme")) == "a:b:space:acme:tasks"
    for space in (DEFAULT, Space("acme")):
        assert {keys.space_of_list(name) for name in keys.hint_lists_of(space)} == {space}
