"""Children: processes that run plain `def` handlers, because only a process can be killed.

They live across tasks. One whose handler must stop is killed with everything it
started; one that dies by itself took its task with it, which is a crash.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import structlog

from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.failure import Failure, FailureKind, describe
from officeplane.domain.ids import TaskId
from officeplane.domain.outcome import RESULT_BYTES_MAX, Failed, Outcome, Succeeded, Waiting
from officeplane.domain.request import TaskRequest
from officeplane.domain.task import ClaimedTask
from officeplane.frames import Body, Bounds, Frame, MalformedFrameError, head_of, read
from officeplane.handlers.context import Reader, Reports
from officeplane.handlers.contract import PermanentFailure, RateLimited
from officeplane.handlers.facts import TaskFacts
from officeplane.handlers.spawning import Spawns
from workers.environment import handler_environment
from workers.results import EditsWanted

TASKS_PER_CHILD: Final = 1_000
LAST_WORDS_SECONDS: Final = 0.2
START_SECONDS: Final = 60.0
_SAID_MAX: Final = Bounds(64 * 1024 * 1024, 0)
"""More than a handler can have to say: its result has 1 MiB at most, its edits a few of them."""
_KINDS: Final = frozenset(kind.value for kind in FailureKind)
_log = structlog.stdlib.get_logger(__name__)


class ChildNotStartedError(Exception):
    """No process came up in which a handler could run; that is the installation's trouble, not the handler's."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the process that handlers run in {what}. What it said is in the worker's log; a variable that a module "
            "of handlers needs has to be named in OFFICEPLANE_HANDLER_ENVIRONMENT"
        )


class _Child:
    """One child process and the socket to it."""

    def __init__(
        self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.process = process
        self.reader = reader
        self.writer = writer
        self.tasks = 0
        self._watching = asyncio.create_task(self._watch())

    async def send(self, body: Body, attached: Sequence[bytes] = ()) -> None:
        self.writer.write(head_of(body, list(map(len, attached))))
        for data in attached:
            self.writer.write(data)
        await self.writer.drain()

    async def hear(self) -> Body:
        """Return its next message."""
        return await read(self.reader, _SAID_MAX, _body)

    async def end(self) -> int:
        """Kill it with its process group and return how it ended."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.writer.close()
        self._watching.cancel()
        await asyncio.wait({self._watching})
        return await self.process.wait()

    async def _watch(self) -> None:
        # Processes that the child has forked may hold the other end open, so that its death does
        # not end the stream; and its last message may still be on its way.
        await self.process.wait()
        await asyncio.sleep(LAST_WORDS_SECONDS)
        self.writer.transport.abort()


class Children:
    """The idle children of a worker, and new ones as they are needed."""

    def __init__(self, handler_modules: Sequence[str], variables: Sequence[str] = ()) -> None:
        self._handler_modules = handler_modules
        self._named = variables
        self._idle: list[_Child] = []
        self._starting: list[asyncio.Task[_Child]] = []

    async def run(
        self, task: ClaimedTask, payload_json: str, reports: Reports, reader: Callable[[], Reader], spawns: Spawns
    ) -> Outcome | EditsWanted:
        """Run a task in a child; when cancelled, the child is killed first."""
        child = await self._ready()
        has_begun = False
        try:
            await child.send(_order(task, payload_json))
            has_begun = bool(await child.hear())
            outcome = await self._converse(child, task, reports, reader, spawns)
        except (asyncio.IncompleteReadError, ConnectionError):
            status = await child.end()
            if not has_begun:
                # It died while it was idle, which is no fault of this task.
                return await self.run(task, payload_json, reports, reader, spawns)
            _log.warning("child.died", task_id=task.id, task_type=task.task_type, status=status)
            return Failed(Failure(FailureKind.CRASH, _epitaph(status)), killed_its_child=True)
        except MalformedFrameError as error:
            await asyncio.shield(child.end())
            _log.exception("child.garbage", task_id=task.id, task_type=task.task_type)
            message = f"its process sent what is no message, and was ended: {error}"
            return Failed(Failure(FailureKind.CRASH, message), killed_its_child=True)
        except BaseException:
            await asyncio.shield(child.end())
            raise
        child.tasks += 1
        if child.tasks < TASKS_PER_CHILD:
            self._idle.append(child)
        else:
            await child.end()
        return outcome

    async def close(self) -> None:
        """End the idle children, and those that nobody waits for; those at work end with their attempts."""
        for starting in self._starting:
            starting.cancel()
        started = await asyncio.gather(*self._starting, return_exceptions=True)
        self._idle += [child for child in started if isinstance(child, _Child)]
        while self._idle:
            await self._idle.pop().end()

    async def _ready(self) -> _Child:
        if self._idle:
            return self._idle.pop()
        starting = self._starting.pop() if self._starting else asyncio.create_task(self._spawn())
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # The handler has not begun, so nothing is killed, and the next attempt finds the child
            # up: otherwise a task with a short timeout would never outlast the start of one.
            self._starting.append(starting)
            raise

    async def _spawn(self) -> _Child:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "workers.child",
                str(theirs.fileno()),
                *self._handler_modules,
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env=handler_environment(os.environ, self._named),
                start_new_session=True,
            )
        reader, writer = await asyncio.open_connection(sock=ours, limit=1 << 24)
        child = _Child(process, reader, writer)
        try:
            # Attempts that wait for the child have timeouts of their own, but the next would wait for it, too.
            async with asyncio.timeout(START_SECONDS):
                await child.hear()
        except (asyncio.IncompleteReadError, ConnectionError, MalformedFrameError):
            await child.end()
            message = "ended before it was ready"
            raise ChildNotStartedError(message) from None
        except TimeoutError:
            await child.end()
            message = f"was not ready within {START_SECONDS:g} s"
            raise ChildNotStartedError(message) from None
        except BaseException:
            await asyncio.shield(child.end())
            raise
        return child

    @staticmethod
    async def _converse(
        child: _Child, task: ClaimedTask, reports: Reports, reader: Callable[[], Reader], spawns: Spawns
    ) -> Outcome | EditsWanted:
        while True:
            match await child.hear():
                case {"result": None | str() as result_json} if len(result_json or "") <= RESULT_BYTES_MAX:
                    return Succeeded(result_json)
                case {"failed": [str(kind), str(message), None | int() | float() as retry_after]} if kind in _KINDS:
                    return Failed(Failure(FailureKind(kind), message, retry_after=retry_after))
                case {"edits": [*edits]}:
                    return EditsWanted(tuple(map(_edit, edits)))
                case {"waits": str(spawned_id)}:
                    return Waiting(TaskId(spawned_id))
                case {"read": str(what)}:
                    await child.send(*await _read(reader(), what))
                case {"spawn": str(request_json), "key": str(key), "wait": bool() as wait}:
                    await child.send(await _spawned(spawns, task, request_json, key, wait=wait))
                case {"progress": [int() | float() as fraction, None | str() as message]}:
                    reports.progress(task, fraction, message)
                case {"checkpoint": value}:
                    await child.send({"refused": await _refusal(reports, task, value)})
                case other:
                    unknown = f"an object with {', '.join(sorted(other)[:5]) or 'nothing'} in it"
                    raise MalformedFrameError(unknown)


def _body(frame: Frame) -> Body:
    return frame.body


def _edit(said: object) -> tuple[str, str]:
    match said:
        case [str(task_type), str(payload)]:
            return task_type, payload
        case _:
            message = "an edit that is none"
            raise MalformedFrameError(message)


async def _read(reader: Reader, what: str) -> Frame:
    """Return what a handler wants to know of its document, or why it cannot."""
    try:
        match what:
            case "text":
                return Frame({"read": await reader.text()})
            case "outline":
                return Frame({"read": [node.as_json() for node in await reader.outline()]})
            case _:
                return Frame({}, [await reader.content()])
    except DatabaseUnavailableError:
        raise
    except PermanentFailure as error:
        return Frame({"refused": str(error), "permanent": True})
    except Exception as error:  # noqa: BLE001 - then it is its handler's error
        return Frame({"refused": describe(error), "permanent": False})


async def _spawned(spawns: Spawns, task: ClaimedTask, request_json: str, key: str, *, wait: bool) -> Body:
    """Spawn a task for a handler and return what it learns of it, or why that cannot be."""
    try:
        request = TaskRequest.model_validate_json(request_json)
        return {"spawned": [*await spawns.spawn(task, request, key, wait=wait)]}
    except DatabaseUnavailableError:
        raise
    except PermanentFailure as error:
        return {"refused": str(error), "permanent": True}
    except RateLimited as error:
        return {"refused": str(error), "retryAfter": error.retry_after}
    except Exception as error:  # noqa: BLE001 - then it is its handler's error
        return {"refused": describe(error), "permanent": False}


async def _refusal(reports: Reports, task: ClaimedTask, value: object) -> str | None:
    """Store a checkpoint, or return why it cannot be: then that is its handler's error."""
    try:
        await reports.checkpoint(task, value)
    except DatabaseUnavailableError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the ledger holds against the value
        return describe(error)
    return None


def _order(task: ClaimedTask, payload_json: str) -> Body:
    return {
        "task": TaskFacts.of(task).as_json(),
        "payload": payload_json,
        "checkpoint": None if task.checkpoint_json is None else json.loads(task.checkpoint_json),
    }


def _epitaph(status: int) -> str:
    if status < 0:
        return f"its process was killed by {signal.Signals(-status).name}"
    return f"its process ended by itself with status {status}"
