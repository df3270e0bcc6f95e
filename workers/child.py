"""A child process: runs plain `def` handlers one after the other, until it is killed.

It has of the worker's environment what it is given by name, and no descriptor but
its end of one socket. When the worker goes away, in whatever way, so does it.
"""

import os
import queue
import signal
import socket
import sys
import threading
from datetime import UTC, datetime

from pydantic import ValidationError

from officeplane.domain.document import Node
from officeplane.domain.failure import Failure, FailureKind, describe
from officeplane.domain.ids import TaskId
from officeplane.domain.outcome import Failed, Succeeded, Waiting
from officeplane.domain.request import TaskRequest
from officeplane.frames import Body, Frame, receive, send
from officeplane.handlers.catalogue import Catalogue, load_catalogue
from officeplane.handlers.context import BlockingContext
from officeplane.handlers.contract import PermanentFailure, RateLimited, failure_of
from officeplane.handlers.facts import TaskFacts
from officeplane.handlers.spawning import Spawned, suspension_in
from workers.results import EditsWanted, outcome_of


class _Line:
    """The child's end of the socket; a thread of its own notices when the worker is gone."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._received: queue.SimpleQueue[Frame] = queue.SimpleQueue()

    def listen(self) -> None:
        while True:
            try:
                self._received.put(receive(self._connection))
            except (OSError, ValueError):
                # What the handler has started goes too: the child leads their process group.
                os.killpg(0, signal.SIGKILL)

    def next(self) -> Body:
        return self._received.get().body

    def send(self, body: Body) -> None:
        try:
            send(self._connection, body)
        except OSError:
            os._exit(0)

    def progress(self, fraction: float, message: str | None) -> None:
        """Send progress to the worker."""
        self.send({"progress": [fraction, message]})

    def text(self) -> str:
        """Ask the worker what the document says."""
        return str(self._read("text").body["read"])

    def outline(self) -> list[Node]:
        """Ask the worker for the tree of the document's nodes."""
        return [Node.from_json(node) for node in self._read("outline").body["read"]]

    def content(self) -> bytes:
        """Ask the worker for the document's file."""
        (data,) = self._read("content").attached
        return data

    def _read(self, what: str) -> Frame:
        self.send({"read": what})
        answer = self._received.get()
        _raise_refusal(answer.body)
        return answer

    def spawn(self, request: TaskRequest, key: str, *, wait: bool) -> Spawned:
        """Ask the worker for a task."""
        self.send({"spawn": request.model_dump_json(by_alias=True, exclude_unset=True), "key": key, "wait": wait})
        answer = self.next()
        _raise_refusal(answer)
        task_id, is_completed, result = answer["spawned"]
        return Spawned(TaskId(task_id), is_completed, result)

    def checkpoint(self, value: object) -> None:
        """Send a checkpoint to the worker and wait until it is stored."""
        self.send({"checkpoint": value})
        refusal = self.next()["refused"]
        if refusal is not None:
            raise ValueError(refusal)


def _raise_refusal(answer: Body) -> None:
    if "retryAfter" in answer:
        raise RateLimited(answer["retryAfter"], answer["refused"])
    if "refused" in answer:
        raise (PermanentFailure if answer["permanent"] else ValueError)(answer["refused"])


def main() -> None:
    """Serve the worker at the other end of the socket that was handed down."""
    connection = socket.socket(fileno=int(sys.argv[1]))
    catalogue = load_catalogue(sys.argv[2:])
    line = _Line(connection)
    threading.Thread(target=line.listen, daemon=True).start()
    line.send({"ready": True})
    while True:
        order = line.next()
        line.send({"begun": True})
        line.send(_run(order, catalogue, line))


def _run(order: Body, catalogue: Catalogue, line: _Line) -> Body:
    task = TaskFacts.from_json(order["task"])
    task_type = catalogue.find(task.task_type)
    assert task_type.run is not None  # noqa: S101 - only runnable types are claimed
    context = BlockingContext(task, order["checkpoint"], line, line, line)
    outcome: Succeeded | EditsWanted | Failed | Waiting
    try:
        payload = task_type.payload.model_validate_json(order["payload"])
        outcome = outcome_of(task_type.run(payload, context))
    except ValidationError as error:
        outcome = Failed(Failure(FailureKind.PERMANENT, f"the payload does not fit: {describe(error)}"))
    except BaseException as error:  # noqa: BLE001 - a handler may raise anything; only what kills is a crash
        suspended = suspension_in(error)
        outcome = Failed(failure_of(error, datetime.now(UTC))) if suspended is None else Waiting(suspended.task_id)
    match outcome:
        case Succeeded(result_json):
            return {"result": result_json}
        case EditsWanted(edits):
            return {"edits": edits}
        case Waiting(spawned_id):
            return {"waits": spawned_id}
        case Failed(failure):
            return {"failed": [failure.kind, failure.message, failure.retry_after]}


if __name__ == "__main__":
    main()
