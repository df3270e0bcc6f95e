"""Judgement: everything that is left when the clients are done, against what must be."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from tests.tokens.clients import Notes
from tests.tokens.laws import Task, faults_of_chain, is_lawful, is_lawful_whole
from tests.tokens.model import Done
from tests.tokens.orders import Orders, Subject
from tests.tokens.reading import lines_of

_PAGE: Final = 500
_BATCH: Final = "batch_edit"


@dataclass(slots=True)
class Verdict:
    """What was found: everything that should not be, and counts of what was."""

    struck: Counter[str]
    notes: Notes
    wrong: list[str] = field(default_factory=list[str])
    states: Counter[str] = field(default_factory=Counter[str])
    wholes: Counter[str] = field(default_factory=Counter[str])
    completed: Counter[str] = field(default_factory=Counter[str])
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
    verdict.completed.update(str(task["taskType"]) for task in edits if task["state"] == "COMPLETED")
    verdict.attempts = sum(task["attempt"] for task in edits)
    verdict.wrong += _faults_of_tasks(tasks, orders, notes)
    whole = {task_id for number, task_id in notes.accepted.items() if "atomic" in orders.made[number].body}
    verdict.wholes.update(str(task["state"]) for task in tasks if task["id"] in whole)
    for subject in subjects:
        # One document of each format is read in every one of its states.
        await _judge_document(http, subject, verdict, whole, every_state=subject.document_id.endswith("-1"))
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
        wrong += [f"not final: {task}" for task in family if task["finishedAt"] is None]
        is_cancelled = root_id in notes.cancelled
        if "atomic" in body:
            if not is_lawful_whole(roots[root_id], family, body, is_cancelled=is_cancelled):
                wrong.append(f"neither whole nor nothing: {roots[root_id]}, {family}")
            continue
        for index, (task, asked) in enumerate(zip(family, children, strict=False)):
            if not is_lawful(task, asked, family[:index], is_cancelled=is_cancelled):
                wrong.append(f"without a reason: {task}")
    return wrong


async def _judge_document(
    http: httpx.AsyncClient, subject: Subject, verdict: Verdict, whole: set[str], *, every_state: bool
) -> None:
    name = subject.document_id
    history = (await _all(http, f"/api/documents/{name}/revisions"))[::-1]
    tasks = await _all(http, f"/api/tasks?documentId={name}")
    by_id: dict[str, Task] = {task["id"]: task for task in tasks}
    # What makes a revision: an edit of its own, or an atomic batch for its children.
    makers = [
        task for task in tasks if task["id"] in whole or (task["taskType"] != _BATCH and task["parentId"] not in whole)
    ]
    completed = {task["id"] for task in makers if task["state"] == "COMPLETED"}
    verdict.wrong += [f"{name}: {each}" for each in faults_of_chain(history, completed)]
    model = subject.model()
    families: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        families[task["parentId"]].append(task)
    siblings = {(task["parentId"], task["key"]): task for task in tasks if task["key"] is not None}
    for index, revision in enumerate(history):
        task = by_id.get(revision["taskId"])
        if task is not None:
            if task["result"]["revision"] != revision["revision"]:
                verdict.wrong.append(f"{name}: {task} is told of another revision than {revision}")
            for edit in sorted(families[task["id"]], key=lambda child: int(child["position"])) or [task]:
                payload = _resolved(edit["payload"], edit["parentId"], siblings)
                model.apply(Done(edit["taskType"], payload, edit["result"]))
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
