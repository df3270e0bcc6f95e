"""Tasks on many documents, and what their marks must show: no overlap, no inversion, nothing left out."""

from collections import defaultdict
from typing import Any

from tests.workers.marks import Mark, Marks


def tasks_on_documents(
    marks: Marks, count: int, documents: int, *, seconds: float = 0.0, first: int = 0, gated: int = 0
) -> list[dict[str, Any]]:
    """Return the bodies of that many tasks, spread over documents in turn, each named `document:number`.

    The first of them wait at a gate, as many as that: who has fewer slots cannot have all of them.
    """
    return [
        {
            "taskType": "test.mark",
            "documentId": f"d{number % documents}",
            "payload": {
                "folder": str(marks.folder),
                "name": f"d{number % documents}:{number}",
                "seconds": seconds,
                "gated": number < first + gated,
            },
        }
        for number in range(first, first + count)
    ]


async def open_gates_of(marks: Marks, bodies: list[dict[str, Any]]) -> None:
    """Let those of these tasks that wait at a gate go on as soon as all of them have begun."""
    names = [body["payload"]["name"] for body in bodies if body["payload"]["gated"]]
    for name in names:
        await marks.seen("begin", name, within=20)
    for name in names:
        marks.open_gate(name)


def of_documents(marks: Marks) -> dict[str, list[Mark]]:
    """Return the marks of each document, by the machine's clock."""
    found = defaultdict[str, list[Mark]](list)
    for mark in sorted(marks.all()):
        found[mark.name.split(":")[0]].append(mark)
    return dict(found)


def assert_one_at_a_time(marks: Marks) -> None:
    """No task of a document begins before the one at work has ended or was stopped."""
    for document, those in of_documents(marks).items():
        at_work: Mark | None = None
        for mark in those:
            if mark.what == "begin":
                assert at_work is None, f"{mark} began in {document} while {at_work} was at work"
                at_work = mark
            else:
                assert at_work is not None, mark
                assert (at_work.name, at_work.attempt) == (mark.name, mark.attempt)
                at_work = None


def assert_in_order(marks: Marks) -> None:
    """Tasks of a document began in the order in which they were accepted, each once."""
    for document, those in of_documents(marks).items():
        numbers = [int(mark.name.split(":")[1]) for mark in those if mark.what == "begin"]
        assert numbers == sorted(set(numbers)), document
