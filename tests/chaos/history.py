"""The client's history: what was asked, how often, and what was answered. Written as it happens, read by the checker.

It is the client's own file and owes nothing to the system under test: what it
says was acknowledged must be there.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

Verb: TypeAlias = Literal["submit", "bulk", "dag", "cancel", "cancel_dag", "retry", "observe"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A task as it was asked for, with what was asked for below it; or a DAG, with its tasks."""

    token: str
    children: tuple["Wanted", ...] = ()
    on_child_failure: str = "abort"
    run_at: float | None = None
    needs: tuple[str, ...] = ()
    """What it depends on: ids of tasks or, in a DAG, tokens."""
    echo: str | None = None
    """The token of the task of its DAG whose result it is given."""
    spawns: tuple[str, ...] = ()
    """Tokens of what its handler spawns, in this order."""
    waits: bool = False
    """Whether it waits for these, in this order."""


@dataclass(slots=True)
class Operation:
    """One thing a client wanted, through all its tries."""

    number: int
    verb: Verb
    invoked: float
    wanted: tuple[Wanted, ...] = ()
    target: str | None = None
    tries: int = 0
    answered: float | None = None
    status: int | None = None
    code: str | None = None
    task_ids: tuple[str, ...] = ()
    state: str | None = None
    dag_id: str | None = None
    odd: list[str] = field(default_factory=list[str])
    """Answers that no client should ever see."""


class HistoryWriter:
    """Writes operations down, a line for each moment of each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a", encoding="utf-8")
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def invoke(self, verb: Verb, *, wanted: tuple[Wanted, ...] = (), target: str | None = None) -> int:
        """Write down that something is wanted; return its number."""
        self._count += 1
        self._write("invoke", self._count, verb=verb, wanted=[asdict(one) for one in wanted], target=target)
        return self._count

    def attempt(self, number: int) -> None:
        """Write down that it is being tried."""
        self._write("try", number)

    def odd(self, number: int, what: str) -> None:
        """Write down an answer that should not exist."""
        self._write("odd", number, what=what)

    def answer(
        self,
        number: int,
        status: int,
        *,
        code: str | None = None,
        task_ids: list[str],
        state: str | None = None,
        dag_id: str | None = None,
    ) -> None:
        """Write down that it was answered for certain."""
        self._write("answer", number, status=status, code=code, task_ids=task_ids, state=state, dag_id=dag_id)

    def _write(self, moment: str, number: int, **facts: object) -> None:
        self._file.write(json.dumps({"moment": moment, "number": number, "at": time.time(), **facts}) + "\n")
        self._file.flush()


def read_history(path: Path) -> list[Operation]:
    """Return every operation in the order of its invocation."""
    found: dict[int, Operation] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        entry: dict[str, Any] = json.loads(line)
        number = entry["number"]
        match entry["moment"]:
            case "invoke":
                wanted = tuple(_wanted(one) for one in entry["wanted"])
                found[number] = Operation(number, entry["verb"], entry["at"], wanted, entry["target"])
            case "try":
                found[number].tries += 1
            case "odd":
                found[number].odd.append(entry["what"])
            case _:
                operation = found[number]
                operation.answered, operation.status, operation.code = entry["at"], entry["status"], entry["code"]
                operation.task_ids, operation.state = tuple(entry["task_ids"]), entry["state"]
                operation.dag_id = entry["dag_id"]
    return list(found.values())


def _wanted(entry: Mapping[str, Any]) -> Wanted:
    lists: dict[str, Any] = {name: tuple(entry[name]) for name in ("needs", "spawns")}
    lists["children"] = tuple(_wanted(child) for child in entry["children"])
    return Wanted(**{**entry, **lists})
