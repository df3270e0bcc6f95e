"""Task types that do what tests of workers need: wait, misbehave, and say when."""

import asyncio
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Never

from pydantic import BaseModel, ConfigDict, JsonValue

from officeplane import BlockingContext, Context, PermanentFailure, RateLimited, TaskFacts, edits, handler
from officeplane.domain.request import SpawnOptions
from tests.workers.marks import Marks

_PAUSE_SECONDS = 0.01


class Marked(BaseModel):
    """Where to leave marks, under which name, and how long to stay."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Path
    name: str = "it"
    seconds: float = 0.0
    gated: bool = False

    @property
    def marks(self) -> Marks:
        """The marks of the test that submitted the task."""
        return Marks(self.folder)


class Chosen(BaseModel):
    """Which of the things that the handler can do."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str


class Times(BaseModel):
    """How often to fail before it goes well."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    times: int


class Said(BaseModel):
    """Anything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    said: JsonValue = None


class Spawned(BaseModel):
    """What to spawn, once for each key."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task_type: str = "noop"
    payload: dict[str, JsonValue] = {}
    keys: tuple[str | None, ...] = (None,)
    document_id: str | None = None


@handler("test.mark", payload=Marked)
async def mark(payload: Marked, context: Context) -> dict[str, object]:
    """Mark its beginning and its end."""
    marks = payload.marks
    marks.leave("begin", payload.name, context.attempt)
    try:
        await asyncio.sleep(payload.seconds)
        while payload.gated and not marks.gate_is_open(payload.name):
            await asyncio.sleep(_PAUSE_SECONDS)
    except asyncio.CancelledError:
        marks.leave("stopped", payload.name, context.attempt)
        raise
    marks.leave("end", payload.name, context.attempt)
    return {"name": payload.name, "attempt": context.attempt}


@handler("test.mark_def", payload=Marked)
def mark_def(payload: Marked, context: BlockingContext) -> dict[str, object]:
    """Do the same in a child process."""
    payload.marks.leave("begin", payload.name, context.attempt)
    time.sleep(payload.seconds)
    if payload.gated:
        payload.marks.wait_at_gate(payload.name)
    payload.marks.leave("end", payload.name, context.attempt)
    return {"name": payload.name, "attempt": context.attempt, "pid": os.getpid()}


@handler("test.stubborn", payload=Marked)
async def stubborn(payload: Marked, context: Context) -> dict[str, object]:
    """Ignore every request to stop until the gate is open, and then hold up the worker's loop."""
    payload.marks.leave("begin", payload.name, context.attempt)
    while not payload.marks.gate_is_open(payload.name):
        try:
            await asyncio.sleep(_PAUSE_SECONDS)
        except asyncio.CancelledError:
            payload.marks.leave("shrugged", payload.name, context.attempt)
    payload.marks.leave("late", payload.name, context.attempt)
    time.sleep(payload.seconds)
    return {"late": True}


@handler("test.busy", payload=Marked)
async def busy(payload: Marked, context: Context) -> dict[str, object]:
    """Hold up the worker's loop, as an async handler must not."""
    payload.marks.leave("begin", payload.name, context.attempt)
    time.sleep(payload.seconds)  # that is the mistake under test
    payload.marks.leave("end", payload.name, context.attempt)
    return {}


@handler("test.kill_worker", payload=Marked)
async def kill_worker(payload: Marked, context: Context) -> None:
    """End the whole worker process, the first time in which it runs only."""
    payload.marks.leave("begin", payload.name, context.attempt)
    if not payload.marks.gate_is_open(payload.name):
        os._exit(9)


@handler("test.talk", payload=Marked)
async def talk(payload: Marked, context: Context) -> None:
    """Talk to somebody who is out of order until the gate `repaired` is open; who hangs while `hanging` is."""
    marks = payload.marks
    marks.leave("begin", payload.name, context.attempt)
    if payload.name == "hurried" and context.attempt == 1:
        marks.leave("limited", payload.name, context.attempt)
        raise RateLimited(payload.seconds)
    await asyncio.sleep(payload.seconds)
    while marks.gate_is_open("hanging") and not marks.gate_is_open("repaired"):
        await asyncio.sleep(_PAUSE_SECONDS)
    if not marks.gate_is_open("repaired"):
        message = "it is out of order"
        raise RuntimeError(message)
    marks.leave("end", payload.name, context.attempt)


@handler("test.fail", payload=Times)
async def fail(payload: Times, context: Context) -> dict[str, object]:
    """Fail that many times."""
    if context.attempt <= payload.times:
        message = f"attempt {context.attempt} goes wrong"
        raise RuntimeError(message)
    return {"attempt": context.attempt}


@handler("test.say", payload=Said)
async def say(payload: Said, context: Context) -> dict[str, object]:
    """Return the payload."""
    return payload.model_dump()


@handler("test.report", payload=Marked)
async def report(payload: Marked, context: Context) -> dict[str, object]:
    """Report progress and a checkpoint, fail once, and tell what was found of it."""
    await context.progress(0.5, "halfway")
    found = context.saved_checkpoint
    await context.checkpoint({"attempt": context.attempt})
    while not payload.marks.gate_is_open(payload.name):
        await asyncio.sleep(_PAUSE_SECONDS)
    if context.attempt == 1:
        raise RuntimeError
    return {"found": found}


class BrokenError(Exception):
    """Cannot be described, copied or pickled."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__

    def __reduce__(self) -> Never:
        raise TypeError


class TooManyError(Exception):
    """The answer of a server, as clients raise it."""

    status = 429

    def __init__(self, headers: dict[str, str]) -> None:
        super().__init__("the server refuses")
        self.headers = headers


def _raise(error: BaseException) -> Never:
    raise error


def _deep() -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(100_000):
        value = {"deeper": value}
    return value


_RESULTS: Mapping[str, Callable[[], object]] = {
    "dict": lambda: {"answer": 42, "text": "ä"},
    "nothing": lambda: None,
    "list": lambda: [1, 2],
    "no_edits": list,
    "nan": lambda: {"value": float("nan")},
    "not_json": lambda: {"value": object()},
    "deep": _deep,
    "large": lambda: {"value": "x" * (1 << 20)},
    "nul": lambda: {"value": "\x00"},
    "surrogate": lambda: {"value": "\ud800"},
}
_ERRORS: Mapping[str, Callable[[], BaseException]] = {
    "error": lambda: RuntimeError("it goes wrong"),
    "permanent": lambda: PermanentFailure("it never will"),
    "rate_limited": lambda: RateLimited(1.5),
    "too_many": lambda: TooManyError({"Retry-After": "30"}),
    "quota": lambda: RuntimeError("Quota exceeded for this key"),
    "broken": BrokenError,
    "huge": lambda: RuntimeError("x" * 1_000_000),
    "nul": lambda: RuntimeError("a\x00b\ud800c"),
    "system_exit": lambda: SystemExit(3),
    "keyboard_interrupt": KeyboardInterrupt,
    "base_exception": lambda: BaseException("out of line"),
    "cancelled": asyncio.CancelledError,
    "group": lambda: ExceptionGroup("several", [RuntimeError("one"), ValueError("two")]),
}


@handler("test.return", payload=Chosen)
async def give(payload: Chosen, context: Context) -> object:
    """Return something that may not be a result."""
    return _RESULTS[payload.what]()


@handler("test.return_def", payload=Chosen)
def give_def(payload: Chosen, context: BlockingContext) -> object:
    """Do the same in a child process."""
    return _RESULTS[payload.what]()


@handler("test.raise", payload=Chosen)
async def throw(payload: Chosen, context: Context) -> None:
    """Raise something."""
    _raise(_ERRORS[payload.what]())


@handler("test.raise_def", payload=Chosen)
def throw_def(payload: Chosen, context: BlockingContext) -> None:
    """Do the same in a child process."""
    _raise(_ERRORS[payload.what]())


def _segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def _killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


_DEATHS: Mapping[str, Callable[[], None]] = {"exit": lambda: os._exit(7), "segfault": _segfault, "killed": _killed}


@handler("test.die", payload=Chosen)
def die(payload: Chosen, context: BlockingContext) -> None:
    """Take the process down."""
    _DEATHS[payload.what]()


@handler("test.die_heard", payload=Marked)
def die_heard(payload: Marked, context: BlockingContext) -> None:
    """Fork a process that goes on and has the child's descriptors, then take the child down."""
    forked = os.fork()
    if not forked:
        time.sleep(1_000)
    payload.marks.leave("forked", payload.name, pid=forked)
    os._exit(7)


@handler("test.surroundings")
def surroundings(payload: BaseModel, context: BlockingContext) -> dict[str, object]:
    """Tell what a child process was given."""
    open_descriptors = {
        entry.name: str(entry.readlink()) for entry in Path("/proc/self/fd").iterdir() if entry.exists()
    }
    return {"environment": dict(os.environ), "descriptors": open_descriptors, "pid": os.getpid()}


@handler("test.facts")
async def facts(payload: BaseModel, context: Context) -> dict[str, object]:
    """Tell what is known of the task in the worker's loop."""
    return _told(context)


@handler("test.facts_def")
def facts_def(payload: BaseModel, context: BlockingContext) -> dict[str, object]:
    """Tell what is known of the task in a child process."""
    return _told(context)


def _told(context: Context | BlockingContext) -> dict[str, object]:
    return {
        "task": {name: repr(getattr(context.task, name)) for name in TaskFacts.__slots__},
        "attempt": context.attempt,
        "document_id": context.document_id,
        "is_equal": context.task == TaskFacts.from_json(context.task.as_json()),
    }


@handler("test.family", payload=Marked)
def family(payload: Marked, context: BlockingContext) -> None:
    """Start a process that goes on by itself, ask not to be terminated, and wait."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    payload.marks.leave("grandchild", payload.name, pid=grandchild.pid)
    payload.marks.leave("begin", payload.name, context.attempt)
    payload.marks.wait_at_gate(payload.name)


@handler("test.report_def", payload=Marked)
def report_def(payload: Marked, context: BlockingContext) -> dict[str, object]:
    """Report progress and a checkpoint, wait, and tell what an earlier attempt left."""
    found = context.saved_checkpoint
    context.progress(0.25, "a quarter")
    context.checkpoint({"attempt": context.attempt})
    payload.marks.leave("begin", payload.name, context.attempt)
    payload.marks.wait_at_gate(payload.name)
    if context.attempt == 1:
        raise RuntimeError
    return {"found": found}


@handler("test.bad_checkpoint_def")
def bad_checkpoint_def(payload: BaseModel, context: BlockingContext) -> None:
    """Save a checkpoint that no ledger can keep."""
    context.checkpoint("\x00")


@handler("test.edit")
async def edit(payload: BaseModel, context: Context) -> list[edits.Edit]:
    """Read the document, and ask for a chapter and a section in it that tell of what was read."""
    nodes, content = await context.outline(), await context.content()
    said = f"{len(nodes)} nodes, {content[:2].decode()}, {await context.text()!r}"
    return [edits.AddChapter(title="Read"), edits.AddSection(title=said)]


@handler("test.edit_def")
def edit_def(payload: BaseModel, context: BlockingContext) -> list[edits.Edit]:
    """Do the same in a process of its own."""
    nodes, content = context.outline(), context.content()
    said = f"{len(nodes)} nodes, {content[:2].decode()}, {context.text()!r}"
    return [edits.AddChapter(title="Read"), edits.AddSection(title=said)]


@handler("test.bad_edit")
async def bad_edit(payload: BaseModel, context: Context) -> list[edits.Edit]:
    """Ask for one edit that works and one that cannot."""
    return [edits.AddChapter(title="One"), edits.DeletePage(page_id="no-such")]


@handler("test.spawn", payload=Spawned)
async def spawn(payload: Spawned, context: Context) -> dict[str, object]:
    """Spawn tasks and return their ids."""
    ids = [await context.spawn(payload.task_type, payload=payload.payload, key=key) for key in payload.keys]
    return {"spawned": ids}


@handler("test.spawn_def", payload=Spawned)
def spawn_def(payload: Spawned, context: BlockingContext) -> dict[str, object]:
    """Do the same in a process of its own."""
    ids = [context.spawn(payload.task_type, payload=payload.payload, key=key) for key in payload.keys]
    return {"spawned": ids}


@handler("test.wait", payload=Spawned)
async def wait(payload: Spawned, context: Context) -> dict[str, object]:
    """Spawn tasks, wait for each in turn, and return their results."""
    options: SpawnOptions = {} if payload.document_id is None else {"document_id": payload.document_id}
    found = [
        await context.spawn(payload.task_type, payload=payload.payload, key=key, wait=True, **options)
        for key in payload.keys
    ]
    return {"results": found, "attempt": context.attempt, "saved": context.saved_checkpoint}


@handler("test.wait_def", payload=Spawned)
def wait_def(payload: Spawned, context: BlockingContext) -> dict[str, object]:
    """Do the same in a process of its own."""
    options: SpawnOptions = {} if payload.document_id is None else {"document_id": payload.document_id}
    found = [
        context.spawn(payload.task_type, payload=payload.payload, key=key, wait=True, **options) for key in payload.keys
    ]
    return {"results": found, "attempt": context.attempt, "saved": context.saved_checkpoint}


@handler("test.wait_in_group", payload=Spawned)
async def wait_in_group(payload: Spawned, context: Context) -> dict[str, object]:
    """Wait for tasks within a group of tasks of the loop."""
    async with asyncio.TaskGroup() as group:
        asked = [
            group.create_task(context.spawn(payload.task_type, payload=payload.payload, key=key, wait=True))
            for key in payload.keys
        ]
    return {"results": [one.result() for one in asked]}


@handler("test.spawn_and_die", payload=Spawned)
async def spawn_and_die(payload: Spawned, context: Context) -> dict[str, object]:
    """Spawn, save what was found, take the whole worker down the first time, and wait for it."""
    saved = context.saved_checkpoint
    spawned = await context.spawn(payload.task_type, payload=payload.payload, key="it")
    await context.checkpoint({"spawned": spawned})
    if saved is None:
        os._exit(9)
    result = await context.spawn(payload.task_type, payload=payload.payload, key="it", wait=True)
    return {"spawned": spawned, "saved": saved, "result": result}


@handler("test.read_and_wait", payload=Spawned)
async def read_and_wait(payload: Spawned, context: Context) -> list[edits.Edit]:
    """Read the document, have somebody else edit it, and add a chapter about what is read then."""
    chapter = edits.AddChapter(title=f"{len(await context.outline())} chapters")
    await context.spawn("add_chapter", payload={"title": "Theirs"}, document_id=context.document_id or "", wait=True)
    return [chapter]


@handler("test.say_on_the_line", payload=Chosen)
def say_on_the_line(payload: Chosen, _context: BlockingContext) -> None:
    """Say something to the worker that no handler says, and then nothing."""
    said = payload.what.replace("a long text", "x" * (1024 * 1024 + 1))
    text = said.encode("utf-8", "surrogatepass")
    length = 2**32 - 1 if payload.what == "far too much" else len(text)
    os.write(int(sys.argv[1]), struct.pack(">II", length, 0) + text)
    time.sleep(3_600)
