"""What a handler may say of a task that it spawns, and what it learns of it."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol, cast

from officeplane.domain.errors import InvalidRequestError
from officeplane.domain.ids import TaskId
from officeplane.domain.request import TaskRequest, request_of
from officeplane.domain.task import ClaimedTask
from officeplane.handlers.contract import PermanentFailure

KEY_MAX: Final = 200
_INSTEAD_OF_KEY: Final = ("idempotency_key", "dedupe")


class Spawned(NamedTuple):
    """What was spawned under a key, and its result once it has completed."""

    task_id: TaskId
    is_completed: bool
    result: object


class Suspended(BaseException):
    """Unwinds a handler that waits for a task it has spawned; it runs again from its top when that has completed.

    It is no error and not to be caught; whoever has to tidy up does so in `finally`.
    """

    def __init__(self, task_id: TaskId) -> None:
        super().__init__(f"it waits for task {task_id}")
        self.task_id = task_id


class Spawns(Protocol):
    """Where an attempt spawns tasks."""

    async def spawn(self, task: ClaimedTask, request: TaskRequest, key: str, *, wait: bool) -> Spawned:
        """Return what was spawned under the key, now or before, to be waited for or not."""
        ...


class BlockingSpawns(Protocol):
    """The same for a handler in a child process."""

    def spawn(self, request: TaskRequest, key: str, *, wait: bool) -> Spawned:
        """Ask the worker for it."""
        ...


class Keys:
    """The keys of what an attempt spawns; one that is not given is the type with its number."""

    def __init__(self) -> None:
        self._unnamed: Counter[str] = Counter()

    def key_of(self, task_type: str, key: str | None) -> str:
        """Return the key to spawn under."""
        if key is None:
            self._unnamed[task_type] += 1
            return f"{task_type}#{self._unnamed[task_type]}"
        if not 1 <= len(key) <= KEY_MAX or not key.isprintable():
            message = f"The key of a spawned task has 1 to {KEY_MAX} printable characters, unlike {key[:KEY_MAX]!r}."
            raise PermanentFailure(message)
        return key


def spawn_request(task_type: str, payload: Mapping[str, Any] | None, options: Mapping[str, Any]) -> TaskRequest:
    """Return the request for a spawned task; what cannot be asked for will not do at another try either."""
    for name in _INSTEAD_OF_KEY:
        if name in options:
            message = f"A spawned task has its spawn key instead of {name}."
            raise PermanentFailure(message)
    try:
        return request_of({"task_type": task_type, "payload": payload or {}, **options})
    except InvalidRequestError as error:
        raise PermanentFailure(str(error)) from error


def answer_of(spawned: Spawned, *, wait: bool) -> Any:
    """Return what a handler wanted of a spawned task: its id or, if it waits, its result, once there is one."""
    if not wait:
        return spawned.task_id
    if not spawned.is_completed:
        raise Suspended(spawned.task_id)
    return spawned.result


def suspension_in(error: BaseException) -> Suspended | None:
    """Return the wait that unwound a handler, if it was that: alone, or several in a group of nothing else."""
    if isinstance(error, Suspended):
        return error
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        found = [suspension_in(one) for one in group.exceptions]
        return found[0] if all(found) else None
    return None
