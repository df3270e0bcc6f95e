"""Everything that is kept in Redis is named in one module, and goes away by itself."""

import ast
import inspect
import re
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest
import redis.asyncio

from officeplane.dispatch import keys as keys_module
from officeplane.dispatch.keys import Keyspace
from officeplane.embedded.stack import EmbeddedStack
from tests.workbench import Workbench

ROOT = Path(__file__).parents[2]
KEYS = [name for name in vars(Keyspace) if not name.startswith("_")]


@pytest.mark.parametrize("name", KEYS)
def test_every_key_says_who_owns_it_and_how_long_it_stays(name: str) -> None:
    said = inspect.getdoc(inspect.getattr_static(Keyspace, name)) or ""

    assert re.search(r"[Oo]wner: `\w+`", said)
    assert re.search(r"TTL|nothing is stored", said)


def test_no_other_module_puts_a_key_together() -> None:
    modules = [path for folder in ("officeplane", "workers") for path in (ROOT / folder).rglob("*.py")]
    others = [path for path in modules if path != Path(keys_module.__file__)]

    found = [f"{path}:{node.lineno}" for path in others for node in ast.walk(ast.parse(path.read_text()))
             if isinstance(node, ast.JoinedStr) and _begins_with_a_prefix(node)]  # fmt: skip

    assert found == []


def _begins_with_a_prefix(text: ast.JoinedStr) -> bool:
    match text.values:
        case [
            ast.FormattedValue(value=ast.Name(id=name) | ast.Attribute(attr=name)),
            ast.Constant(value=str(rest)),
            *_,
        ]:
            return "prefix" in name and rest.startswith(":") and not rest.startswith(": ")
        case _:
            return False


@pytest.fixture
def redis_url(stack: EmbeddedStack) -> str:
    """A number of Valkey's databases that no process of another test's writes to."""
    return urlunsplit(urlsplit(stack.redis_url)._replace(path="/2"))


async def _stored(redis_url: str) -> dict[str, int]:
    """Return every key with the seconds it has left; -1 is for ever."""
    client = redis.asyncio.from_url(redis_url, decode_responses=True)
    stored: dict[str, int] = {}
    async for key in client.scan_iter("*"):  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]  # redis does not say
        name = str(key)  # pyright: ignore[reportUnknownArgumentType]
        stored[name] = await client.ttl(name)
    await client.aclose()
    return stored


async def test_a_busy_life_leaves_only_hints_and_what_expires(bench: Workbench, redis_url: str) -> None:
    first = await bench.a_running_task(document_id="a")
    waiting = await bench.a_task(document_id="a", priority="LOW")
    await bench.claim(waiting)
    await bench.a_batch({"task_type": "noop"}, {"task_type": "noop"}, document_id="b")
    await bench.a_running_task(document_id="c")
    await bench.complete(first)
    await bench.worker.redelivery.sweep()
    await bench.worker.redelivery.promote()

    stored = await _stored(redis_url)

    keys = Keyspace(bench.runtime.settings.key_prefix)
    for_ever = {key for key, seconds in stored.items() if seconds < 0}
    assert for_ever
    assert for_ever <= set(keys.hint_lists)
    may_be = {make(document) for document in "abc" for make in (keys.lock, keys.parked)} | {keys.set_aside, keys.probe}
    assert stored.keys() - for_ever <= may_be
