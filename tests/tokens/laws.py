"""Laws: how edits may end, and what history they leave. Pure, so that they can be broken on purpose."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

Task = Mapping[str, Any]
Revision = Mapping[str, Any]


def is_lawful(task: Task, asked: Mapping[str, Any], earlier: Sequence[Task], *, is_cancelled: bool) -> bool:
    """Tell whether an edit may have ended as it did, after earlier ones of its batch."""
    are_through = all(sibling["state"] == "COMPLETED" for sibling in earlier)
    match task["state"]:
        case "COMPLETED":
            return _follows_its_base(task, asked)
        case "CANCELLED":
            return is_cancelled or not are_through
        case "FAILED":
            return _is_conflict(task, asked) or (task["error"]["kind"] == "permanent" and not are_through)
        case _:
            return False


def is_lawful_whole(batch: Task, children: Sequence[Task], asked: Mapping[str, Any], *, is_cancelled: bool) -> bool:
    """Tell whether an atomic batch may have ended as it did: all of it, or nothing."""
    states = [child["state"] for child in children]
    match batch["state"]:
        case "COMPLETED":
            revisions = {child["result"]["revision"] for child in children if child["result"] is not None}
            is_one = revisions == {batch["result"]["revision"]}
            return set(states) == {"COMPLETED"} and is_one and _follows_its_base(batch, asked) and not _is_broken(asked)
        case "CANCELLED":
            return is_cancelled and set(states) == {"CANCELLED"}
        case "FAILED":
            is_invalid = batch["error"]["kind"] == "invalid_edit" and _is_broken(asked)
            return (is_invalid or _is_conflict(batch, asked)) and "COMPLETED" not in states
        case _:
            return False


def faults_of_chain(history: Sequence[Revision], completed: Collection[str]) -> list[str]:
    """Return what is wrong with a document's revisions, oldest first, if these tasks were to make one each."""
    wrong: list[str] = []
    numbers = [revision["revision"] for revision in history]
    if numbers != list(range(1, len(history) + 1)):
        wrong.append(f"a gap in {numbers}")
    for before, after in pairwise(history):
        if after["base"] != before["revision"]:
            wrong.append(f"{after} does not follow {before}")
    made = Counter(revision["taskId"] for revision in history[1:])
    wrong += [f"several revisions of {task_id}" for task_id, times in made.items() if times > 1]
    wrong += [f"a revision of {task_id}, which was not completed" for task_id in made.keys() - completed]
    wrong += [f"no revision of {task_id}, which was completed" for task_id in set(completed) - made.keys()]
    return wrong


def _follows_its_base(task: Task, asked: Mapping[str, Any]) -> bool:
    return asked.get("onConflict") != "reject" or bool(task["result"]["revision"] == asked["baseRevision"] + 1)


def _is_conflict(task: Task, asked: Mapping[str, Any]) -> bool:
    return task["error"]["kind"] == "edit_conflict" and asked.get("onConflict") in {"reject", "rebase"}


def _is_broken(asked: Mapping[str, Any]) -> bool:
    return any("nowhere" in child["payload"].values() for child in asked["children"])
