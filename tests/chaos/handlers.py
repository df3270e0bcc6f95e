"""The task types of the workload: they mark what they do, and do what their payload says."""

import asyncio
import os
import time
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from officeplane import Context, PermanentFailure, handler
from officeplane.handlers.context import BlockingContext
from tests.chaos.marks import mark

EXIT_STATUS: Final = 77
Seconds = Annotated[float, Field(ge=0, le=60)]


class Work(BaseModel):
    """What an attempt shall do."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: str
    seconds: Seconds = 0
    fails_until: int = 0
    """The first attempt that does not fail."""
    is_hopeless: bool = False
    exits: bool = False
    echo: JsonValue = None


@handler("chaos.work", payload=Work)
async def work(payload: Work, context: Context) -> dict[str, object]:
    """Wait, then fail, exit or answer with what it was given."""
    mark("start", context.task.id, context.attempt)
    try:
        await asyncio.sleep(payload.seconds)
        return _end(payload, context)
    finally:
        mark("end", context.task.id, context.attempt)


@handler("chaos.child", payload=Work)
def child(payload: Work, context: BlockingContext) -> dict[str, object]:
    """Do the same in a child process."""
    mark("start", context.task.id, context.attempt)
    try:
        time.sleep(payload.seconds)
        return _end(payload, context)
    finally:
        mark("end", context.task.id, context.attempt)


class Errand(BaseModel):
    """What is to be spawned."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task_type: str
    payload: Work
    document_id: str | None = None
    max_retries: int = 3

    @property
    def key(self) -> str:
        """Its spawn key."""
        return self.payload.token

    def options(self) -> dict[str, Any]:
        """What `spawn` is told."""
        given = {} if self.document_id is None else {"document_id": self.document_id}
        payload = self.payload.model_dump()
        return {**given, "title": self.key, "key": self.key, "payload": payload, "max_retries": self.max_retries}


class Delegation(Work):
    """What an attempt shall have others do, before it does its own."""

    errands: tuple[Errand, ...]
    waits: bool = False


@handler("chaos.spawner", payload=Delegation)
async def spawner(payload: Delegation, context: Context) -> dict[str, object]:
    """Spawn what is asked for, wait for it if told to, and then do as the others do."""
    mark("start", context.task.id, context.attempt)
    try:
        for errand in payload.errands:
            await context.spawn(errand.task_type, **errand.options())
        await asyncio.sleep(payload.seconds)
        waited_for = payload.errands if payload.waits else ()
        given = [await context.spawn(errand.task_type, wait=True, **errand.options()) for errand in waited_for]
        return _end(payload, context) | {"given": given}
    finally:
        mark("end", context.task.id, context.attempt)


@handler("chaos.child_spawner", payload=Delegation)
def child_spawner(payload: Delegation, context: BlockingContext) -> dict[str, object]:
    """Do the same in a child process."""
    mark("start", context.task.id, context.attempt)
    try:
        for errand in payload.errands:
            context.spawn(errand.task_type, **errand.options())
        time.sleep(payload.seconds)
        waited_for = payload.errands if payload.waits else ()
        given = [context.spawn(errand.task_type, wait=True, **errand.options()) for errand in waited_for]
        return _end(payload, context) | {"given": given}
    finally:
        mark("end", context.task.id, context.attempt)


def _end(payload: Work, context: Context | BlockingContext) -> dict[str, object]:
    if payload.exits:
        mark("exit", context.task.id, context.attempt)
        os._exit(EXIT_STATUS)
    if payload.is_hopeless:
        message = "it was told to fail for good"
        raise PermanentFailure(message)
    if context.attempt < payload.fails_until:
        message = f"it was told to fail until attempt {payload.fails_until}"
        raise RuntimeError(message)
    return {"token": payload.token, "attempt": context.attempt, "echo": payload.echo}


class Secret(BaseModel):
    """What nobody of another space may read."""

    word: str
    fails: bool


@handler("chaos.stranger", payload=Secret)
async def stranger(payload: Secret, context: Context) -> dict[str, str]:
    """Answer or fail with the word of a space."""
    if payload.fails:
        raise PermanentFailure(payload.word)
    return {"word": payload.word, "document": context.document_id or ""}
