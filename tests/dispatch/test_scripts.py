import re
from collections.abc import Callable
from pathlib import Path

import pytest

from officeplane.dispatch import Connection, RedisUnavailable, scripts
from officeplane.dispatch.commands import packed
from officeplane.dispatch.scripts import ACQUIRE_LOCK, Script, read_script
from tests.dispatch.fixtures import Ask

LUA = Path(__file__).resolve().parents[2] / "lua"


def an_acquire(connection: Connection, document_id: str, value: str) -> bytes:
    keys = connection.keys
    return ACQUIRE_LOCK.call(keys.lock(document_id), keys.parked(document_id), arguments=(value, "60000", "2", "x"))


async def test_the_hash_is_the_one_the_server_gives(ask: Ask) -> None:
    for script in scripts.ALL:
        assert await ask("SCRIPT", "LOAD", script.text) == script.digest


async def test_calls_work_on_a_server_that_has_forgotten_the_scripts(redis: Connection, ask: Ask) -> None:
    await ask("SCRIPT", "FLUSH")

    assert await redis.ask([an_acquire(redis, f"d{n}", "w:1") for n in range(300)]) == [1] * 300


async def test_only_the_calls_that_were_refused_are_repeated(redis: Connection, ask: Ask) -> None:
    await ask("SCRIPT", "FLUSH")
    counter = f"{redis.keys.prefix}:counter"
    count = packed("INCR", counter)

    replies = await redis.ask([count, an_acquire(redis, "d", "w:1"), count, an_acquire(redis, "d", "w:2"), count])

    assert replies == [1, 1, 2, 0, 3]
    await ask("DEL", counter)


async def test_a_script_the_server_cannot_learn_means_unavailable(redis: Connection) -> None:
    unknown = Script("return 1", "0" * 40)

    with pytest.raises(RedisUnavailable, match="NoScript"):
        await redis.ask([unknown.call(arguments=())])


def test_a_script_that_is_not_there_is_named() -> None:
    with pytest.raises(FileNotFoundError, match="no_such_script"):
        read_script("no_such_script")


@pytest.mark.parametrize("path", sorted(LUA.glob("*.lua")), ids=lambda path: str(path.name))
def test_a_script_is_short_states_its_contract_and_has_a_caller(path: Path) -> None:
    text = path.read_text()

    assert all(word in text for word in ("KEYS", "ARGV", "Returns"))
    assert len([line for line in text.splitlines() if line and not line.startswith("--")]) <= 40
    assert text in [script.text for script in scripts.ALL]


COMMANDS_OF_REDIS_7_0 = {"SET", "GET", "GETDEL", "DEL", "PTTL", "PEXPIRE", "RPUSH", "RPOP", "RENAME", "EXISTS"} | {
    "LPUSH",
    "LPOS",
    "LLEN",
    "LINDEX",
}


@pytest.mark.parametrize("path", sorted(LUA.glob("*.lua")), ids=lambda path: str(path.name))
def test_a_script_uses_commands_of_redis_7_0_and_keys_it_was_given(path: Path) -> None:
    calls: Callable[[str], list[tuple[str, str]]] = re.compile(r"redis\.p?call\('(\w+)', ([^,)]+)").findall

    found = calls(path.read_text())

    assert found
    assert {verb for verb, _ in found} <= COMMANDS_OF_REDIS_7_0
    # Whose turn it is says another key; a Cluster has all of them in one slot, by their prefix.
    named = {"key", "list", "own", "turns", "wake"} if path.name == "take_turns.lua" else set[str]()
    assert all(key.startswith("KEYS[") or key in named for _, key in found)
