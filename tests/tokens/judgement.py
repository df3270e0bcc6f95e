"""Judgement: everything that is left when the clients are done, against what must be."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

import httpx

from tests.tokens.clients import Notes
from tests.tokens.model import Done
from tests.tokens.orders import Orders, Subject
from tests.tokens.reading import lines_of

Task = Mapping[str, Any]
_PAGE: Final = 500
_BATCH: Final = "batch_edit"


@dataclass(slots=True)
class Verdict:
    """What was found: everything that should not be, and counts of what was."""

    struck: Counter[str]
    notes: Notes
    wrong: list[str] = field(default_factory=list[str])
    states: Counter[str] = field(default_factory=Counter[str])
    attempts: int = 0
    revisions: int = 0
    reread: int = 0


async def judged(
    http: httpx.AsyncClient, subjects: list[Subject], orders: Orders, notes: Notes, struck: Counter[str]
) -> Verdict:
    """Return what is to be said of a run."""
    verdict = Verdict(struck, notes)
    tasks = [task for task in await _all(http, "/api/tasks") if task["taskType"] != "add_sheet"]
    edits = [task for task in tasks if task["taskType"] != _BATCH]
    verdict.states.update(str(task["state"]) for task in edits)
    verdict.attempts = sum(task["attempt"] for task in edits)
    verdict.wrong += _faults_of_tasks(tasks, orders, notes)
    for subject in subjects:
        # One document of each format is read in every one of its states.
        await _judge_document(http, subject, verdict, every_state=subject.document_id.endswith("-1"))
    return verdict


def _faults_of_tasks(tasks: list[Task], orders: Orders, notes: Notes) -> list[str]:
    wrong: list[str] = []
    roots = {task["id"]: task for task in tasks if task["parentId"] is None}
    families: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        families[task["parentId"] or task["id"]].append(task)
    accepted = set(notes.accepted.values())
    if roots.keys() != accepted or len(accepted) != len(orders.made):
        wrong.append(f"{len(orders.made)} orders, {len(accepted)} accepted, {len(roots)} stored")
    for number, root_id in notes.accepted.items():
        body = orders.made[number].body
        if root_id not in roots:
            wrong.append(f"it was accepted and is not there: {root_id}")
            continue
        if notes.ended.get(root_id) != roots[root_id]["state"]:
            wrong.append(f"it was said to end as {notes.ended.get(root_id)}: {roots[root_id]}")
        children = body.get("children", [body])
        family = sorted((t for t in families[root_id] if t["taskType"] != _BATCH), key=lambda t: t["position"] or 0)
        if len(family) != len(children):
            wrong.append(f"{len(children)} were asked for: {family}")
        for task, asked, earlier in zip(family, children, _earlier(family), strict=False):
            if task["finishedAt"] is None:
                wrong.append(f"not final: {task}")
            if not _is_lawful(task, asked, earlier, is_cancelled=root_id in notes.cancelled):
                wrong.append(f"without a reason: {task}")
    return wrong


def _earlier(family: list[Task]) -> list[list[Task]]:
    return [family[:index] for index in range(len(family))]


def _is_lawful(task: Task, asked: Mapping[str, Any], earlier: list[Task], *, is_cancelled: bool) -> bool:
    """Tell whether a task may have ended as it did."""
    are_through = all(sibling["state"] == "COMPLETED" for sibling in earlier)
    match task["state"]:
        case "COMPLETED":
            must_follow = asked["baseRevision"] if asked.get("onConflict") == "reject" else None
            return must_follow is None or task["result"]["revision"] == must_follow + 1
        case "CANCELLED":
            return is_cancelled or not are_through
        case "FAILED":
            kind = task["error"]["kind"]
            stale = kind == "edit_conflict" and asked.get("onConflict") in {"reject", "rebase"}
            return stale or (kind == "permanent" and not are_through)
        case _:
            return False


async def _judge_document(http: httpx.AsyncClient, subject: Subject, verdict: Verdict, *, every_state: bool) -> None:
    name = subject.document_id
    history = (await _all(http, f"/api/documents/{name}/revisions"))[::-1]
    tasks = await _all(http, f"/api/tasks?documentId={name}")
    by_id: dict[str, Task] = {task["id"]: task for task in tasks}
    completed = {task["id"] for task in tasks if task["state"] == "COMPLETED" and task["taskType"] != _BATCH}
    verdict.wrong += [f"{name}: {each}" for each in _faults_of_chain(history, completed)]
    model = subject.model()
    siblings = {(task["parentId"], task["key"]): task for task in tasks if task["key"] is not None}
    for index, revision in enumerate(history):
        task = by_id.get(revision["taskId"])
        if task is not None:
            if task["result"]["revision"] != revision["revision"]:
                verdict.wrong.append(f"{name}: {task} is told of another revision than {revision}")
            payload = _resolved(task["payload"], task["parentId"], siblings)
            model.apply(Done(task["taskType"], payload, task["result"]))
        data = (await http.get(f"/api/documents/{name}/content?revision={revision['revision']}")).content
        if (hashlib.sha256(data).hexdigest(), len(data)) != (revision["sha256"], revision["size"]):
            verdict.wrong.append(f"{name}: other bytes than {revision}")
        verdict.revisions += 1
        if every_state or index == len(history) - 1:
            verdict.reread += 1
            said, promised = lines_of(subject.format, data), model.lines()
            if said != promised:
                verdict.wrong.append(f"{name}: revision {revision} says\n{said}\nand should say\n{promised}")
                return
    head = (await http.get(f"/api/documents/{name}")).json()
    if (head["revision"], head["sha256"]) != (history[-1]["revision"], history[-1]["sha256"]):
        verdict.wrong.append(f"{name}: {head} is not the last of its history")


def _faults_of_chain(history: list[Task], completed: set[str]) -> list[str]:
    wrong: list[str] = []
    if [revision["revision"] for revision in history] != list(range(1, len(history) + 1)):
        wrong.append(f"a gap in {[revision['revision'] for revision in history]}")
    wrong += [f"{after} does not follow {before}" for before, after in pairwise(history) if _parts(before, after)]
    made = Counter(revision["taskId"] for revision in history[1:])
    wrong += [f"several revisions of {task_id}" for task_id, times in made.items() if times > 1]
    wrong += [f"a revision of {task_id}, which was not completed" for task_id in made.keys() - completed]
    wrong += [f"no revision of {task_id}, which was completed" for task_id in completed - made.keys()]
    return wrong


def _parts(before: Task, after: Task) -> bool:
    return bool(after["base"] != before["revision"])


def _resolved(value: Any, parent: str | None, siblings: Mapping[tuple[str | None, str], Task]) -> Any:
    """Return a payload with what its references stood for."""
    match value:
        case {"$ref": str(reference)}:
            key, name = reference.split(".")
            return siblings[parent, key]["result"][name]
        case dict():
            items: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType]
            return {name: _resolved(inner, parent, siblings) for name, inner in items.items()}
        case _:
            return value


async def _all(http: httpx.AsyncClient, path: str) -> list[Any]:
    """Return every page of a list."""
    found: list[Any] = []
    following: str | None = f"{path}{'&' if '?' in path else '?'}limit={_PAGE}"
    while following is not None:
        answer = await http.get(following)
        assert answer.status_code == 200, answer.text
        found += answer.json()
        link = re.match(r"<([^>]+)>", answer.headers.get("Link", ""))
        following = None if link is None else link[1]
    return found
