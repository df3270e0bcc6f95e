"""Whatever is submitted, cancelled and changed while workers edit a document, its revisions are those of its edits."""

import asyncio
import hashlib
import json
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from random import Random
from typing import Any, Final

import pytest

from officeplane.domain.errors import IllegalStateError
from officeplane.domain.ids import TaskId
from officeplane.domain.lifecycle import FINAL, STATES, TaskState, is_legal
from officeplane.domain.patch import TaskPatch
from officeplane.domain.principal import LOCAL
from tests import contents
from tests.sandbox.processes import born, overlook_others
from tests.services.editing import a_document, content
from tests.support import eventually
from tests.workbench import Workbench
from tests.workers.hosting import a_worker

SEEDS: Final = int(os.environ.get("PROVE_RIDES", "3"))
WAITING_AT_FIRST: Final = 40
ACTIONS: Final = 60
REST_SECONDS: Final = 60.0
PRIORITIES: Final = ("NORMAL", "NORMAL", "NORMAL", "NORMAL", "HIGH", "LOW")


def an_edit(dice: Random, number: int) -> dict[str, Any]:
    """Return an edit whose words say which it is; a few have nothing to replace."""
    word = f"w{number:04}"
    task_type, payload = dice.choice(
        [
            ("add_chapter", {"title": f"Chapter {word}"}),
            ("write_page", {"content": f"Page {word}"}),
            ("replace_text", {"find": f"w{dice.randrange(number + 1):04}", "replace": f"{word}r"}),
        ]
    )
    return {
        "task_type": task_type,
        "payload": payload,
        "document_id": "plan",
        "priority": dice.choice(PRIORITIES),
        "created_by": f"author of {word}",
    }


async def disturb(bench: Workbench, dice: Random, ids: list[TaskId], *, kills: bool) -> None:
    """Submit, cancel and change this and that, whether it is allowed or not, while the workers are at it."""
    for action in range(ACTIONS):
        one = dice.choice(ids)
        chance = dice.random()
        with suppress(IllegalStateError):
            if chance < 0.5:
                ids.append((await bench.submit(an_edit(dice, WAITING_AT_FIRST + action)))[0].id)
            elif chance < 0.7:
                await bench.runtime.cancellation.cancel(LOCAL, one, None)
            elif chance < 0.9:
                patch = {"priority": dice.choice(PRIORITIES)} if dice.random() < 0.5 else {"title": f"patch {action}"}
                await bench.runtime.patches.patch(LOCAL, one, TaskPatch.model_validate(patch))
            elif kills and (children := born()):
                with suppress(ProcessLookupError):
                    os.kill(dice.choice(children), signal.SIGKILL)


def applied(edits: Sequence[tuple[str, dict[str, str]]]) -> list[str]:
    """Return the paragraphs that edits make of an empty document."""
    lines: list[str] = []
    for task_type, payload in edits:
        if task_type == "replace_text":
            assert any(payload["find"] in line for line in lines), (payload, lines)
            lines = [line.replace(payload["find"], payload["replace"]) for line in lines]
        else:
            lines.append(payload["title"] if task_type == "add_chapter" else payload["content"])
    return lines


async def check_revisions(bench: Workbench) -> None:
    """Every completed edit has one revision, nothing else has any, and the last says what all of them make."""
    rows = await bench.execute(
        "SELECT r.revision, r.base, r.author, r.sha256, r.size, t.task_type, t.payload, t.state, t.on_behalf_of "
        "FROM revisions r LEFT JOIN tasks t ON t.id = r.task_id ORDER BY r.revision"
    )
    assert [(row["revision"], row["base"]) for row in rows] == [(n, n - 1) for n in range(1, len(rows) + 1)]
    of_tasks = rows[1:]
    assert all((row["state"], row["author"]) == ("COMPLETED", row["on_behalf_of"]) for row in of_tasks)
    (counted,) = await bench.execute("SELECT count(*) AS n FROM tasks WHERE state = 'COMPLETED'")
    assert counted["n"] == len(of_tasks)
    (document,) = await bench.execute("SELECT head FROM documents")
    assert document["head"] == len(rows)
    for row in rows:
        data = await content(bench, row["revision"])
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (row["sha256"], row["size"])
    said = (await contents.text(bench.runtime, "plan")).splitlines()
    assert [line.lstrip("# ") for line in said if line.strip()] == applied(
        [(row["task_type"], json.loads(row["payload"])) for row in of_tasks]
    )


async def check_events(bench: Workbench) -> int:
    """Each task's history is legal and as long as it says; return how many edits ended with another."""
    tasks = {row["id"]: row for row in await bench.execute("SELECT id::text, state, attempt FROM tasks")}
    steps: dict[str, list[tuple[str, str]]] = {}
    revised: list[str] = []
    for row in await bench.execute(
        "SELECT kind, xid::text, task_id::text FROM (SELECT xid, id, kind, unnest(task_ids) AS task_id FROM events) e "
        "WHERE task_id IS NOT NULL ORDER BY e.xid, e.id"
    ):
        subject, _, what = row["kind"].partition(".")
        if row["kind"] == "document.revised":
            revised.append(row["task_id"])
        elif subject == "task" and what.upper() in STATES:
            steps.setdefault(row["task_id"], []).append((what.upper(), row["xid"]))
    ahead = 0
    for task_id, task in tasks.items():
        states = [state for state, _ in steps[task_id]]
        assert (states[0], states[-1]) == ("QUEUED", task["state"])
        assert all(is_legal(TaskState(before), TaskState(then)) for before, then in pairwise(states)), states
        assert states.count("RUNNING") == task["attempt"], states
        assert revised.count(task_id) == (task["state"] == "COMPLETED")
        ended = steps[task_id][-1]
        ahead += ended[0] == "COMPLETED" and ("RUNNING", ended[1]) in steps[task_id]
    return ahead


async def is_over(bench: Workbench) -> bool:
    return not await bench.execute("SELECT FROM tasks WHERE state <> ALL($1::text[])", [str(state) for state in FINAL])


@pytest.mark.parametrize("kills", [False, True])
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_the_revisions_of_a_document_are_those_of_its_completed_edits(
    bench: Workbench, seed: int, *, kills: bool
) -> None:
    overlook_others()
    others = asyncio.all_tasks()
    dice = Random(seed)
    await a_document(bench)
    ids = [task.id for task in await bench.submit_many([an_edit(dice, n) for n in range(WAITING_AT_FIRST)])]

    async with a_worker(bench, concurrency=2), a_worker(bench, concurrency=2):
        await eventually(lambda: bench.execute("SELECT FROM revisions OFFSET 1"), what="the first edit")
        await disturb(bench, dice, ids, kills=kills)
        await eventually(lambda: is_over(bench), within=REST_SECONDS, what="the end of all edits")

    await check_revisions(bench)
    assert await check_events(bench) > 0
    assert [task for task in asyncio.all_tasks() - others if task.get_name().startswith("lookahead.")] == []
