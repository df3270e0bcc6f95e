import pytest

from officeplane.dispatch import Keyspace
from officeplane.domain.priority import Tier


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
