"""What there is in spaces, for tests of what is seen of it: one of each thing that has an id or a name."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final
from uuid import uuid4

import asyncpg
import httpx

from officeplane.domain.document import Format
from officeplane.domain.ids import KeyId
from officeplane.domain.narrowing import Narrowing
from officeplane.domain.principal import LOCAL, Principal, Scope
from officeplane.domain.request import DagRequest, TaskRequest
from officeplane.domain.space import Space, qualified
from tests.api.client import Api, runtime_of, stranger_to

ONLY: Final = Narrowing(("in-*",), ("noop", "batch_edit", "add_chapter", "upload", "revert"))
"""What the callers are narrowed to."""


@dataclass(frozen=True, slots=True)
class Things:
    """Ids and names of what somebody could ask for."""

    space: str
    task_id: str
    letter_id: str
    dag_id: str
    document_id: str
    key_id: str
    fingerprint: str
    taken_up: str = ""
    """The document of the task, whose lane has no document."""

    @property
    def names(self) -> tuple[str, ...]:
        """All by which they would be recognised."""
        return (self.task_id, self.letter_id, self.dag_id, self.document_id, self.key_id, self.fingerprint)

    def hidden_in(self, text: str) -> str:
        """Return an answer without what tells them apart from others."""
        for name in self.names:
            text = text.replace(name, "NAME")
        return text


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a key."""

    principal: Principal
    key: str
    client: httpx.AsyncClient


@asynccontextmanager
async def a_caller_with(api: Api, *scopes: Scope, space: str, narrowing: Narrowing = ONLY) -> AsyncGenerator[Caller]:
    """A caller with a key of a space that has these scopes, and is narrowed."""
    made = await runtime_of(api.app).api_keys.create(LOCAL, f"key-{uuid4()}", scopes, space=space, narrowing=narrowing)
    async with stranger_to(api.app, made.text) as client:
        yield Caller(made.key.principal, made.text, client)


async def things_of(
    api: Api, caller: Principal, prefix: str = "in-", task_type: str = "noop", only: Narrowing = ONLY
) -> Things:
    """One of each, submitted by a caller."""
    runtime = runtime_of(api.app)
    caller = replace(caller, documents=None, task_types=None, scopes=frozenset(Scope))
    document_id, lane, letter = (f"{prefix}{uuid4()}" for _ in range(3))
    payload: dict[str, object] = {"seconds": 1} if task_type == "sleep" else {}
    asked = {"task_type": task_type, "payload": payload}
    await runtime.documents.create(caller, document_id, Format.DOCX, "Secret", None)
    task = await runtime.submission.submit(caller, TaskRequest.from_python({**asked, "document_id": lane}))
    failing = await runtime.submission.submit(caller, TaskRequest.from_python({**asked, "document_id": letter}))
    await api.fail(failing.task.id, f"It broke: {a_word()}")
    (alone,) = await rows_of(api, "SELECT fingerprint FROM dead_letters WHERE task_id = $1::uuid", failing.task.id)
    dag = DagRequest.model_validate(
        {"tasks": [{"key": "one", "taskType": task_type, "payload": payload, "documentId": lane}]}
    )
    dag_id, _ = await runtime.dags.submit(caller, dag)
    key = await runtime.api_keys.create(
        replace(LOCAL, space=Space("default")), f"key-{uuid4()}", [Scope.READ], space=caller.space, narrowing=only
    )
    return Things(
        caller.space, task.task.id, failing.task.id, dag_id, document_id, key.key.id, alone["fingerprint"], lane
    )


def a_word() -> str:
    """A word that no failure has had yet; numbers would make no difference to its fingerprint."""
    return uuid4().hex.translate(str.maketrans("0123456789", "ghijklmnop"))


def nothing_like(things: Things, prefix: str = "in-") -> Things:
    """Ids and names of the same looks, of which nothing is there."""
    ids = [KeyId(str(uuid4())) for _ in range(4)]
    fingerprint = uuid4().hex[: len(things.fingerprint)]
    return Things(things.space, ids[0], ids[1], ids[2], f"{prefix}{uuid4()}", ids[3], fingerprint, f"{prefix}{uuid4()}")


async def rows_of(api: Api, sql: str, *values: object) -> list[asyncpg.Record]:
    """What the ledger has, past everything that could hide it."""
    connection = await asyncpg.connect(api.settings.database_url)
    try:
        return await connection.fetch(sql, *values)
    finally:
        await connection.close()


async def as_they_are(api: Api, things: Things) -> list[str]:
    """Everything that the ledger keeps of things."""
    document_id = qualified(Space(things.space), things.document_id)
    ids = [things.task_id, things.letter_id, things.dag_id, things.key_id]
    rows = await rows_of(
        api,
        "SELECT t::text FROM tasks t WHERE t.id = ANY($1::uuid[]) OR t.dag_id = ANY($1::uuid[]) "
        "UNION ALL SELECT g::text FROM dags g WHERE g.id = ANY($1::uuid[]) "
        "UNION ALL SELECT l::text FROM dead_letters l WHERE l.task_id = ANY($1::uuid[]) "
        "UNION ALL SELECT n::text FROM dead_letter_decisions n WHERE n.task_id = ANY($1::uuid[]) "
        "UNION ALL SELECT k::text FROM api_keys k WHERE k.id = ANY($1::uuid[]) "
        "UNION ALL SELECT d::text FROM documents d WHERE d.id = $2 "
        "UNION ALL SELECT r::text FROM revisions r WHERE r.document_id = $2 "
        "UNION ALL SELECT p::text FROM paused_documents p WHERE p.document_id = $2 "
        "UNION ALL SELECT e::text FROM task_edges e WHERE e.depends_on = ANY($1::uuid[])",
        ids,
        document_id,
    )
    assert len(rows) >= 7
    return sorted(str(row[0]) for row in rows)
