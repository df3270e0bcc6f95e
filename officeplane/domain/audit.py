"""The audit: who has changed what, from where, on whose behalf.

A deed is kept in the transaction that does it: neither is there without the other.
What the installation does by itself is no deed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from officeplane.domain.ids import KeyId, TaskId
from officeplane.domain.principal import Principal
from officeplane.domain.space import Space

Facts: TypeAlias = Mapping[str, object]
"""What was so before, or is so after; never payloads, texts of documents, or keys."""


class Action(StrEnum):
    """What callers can do that changes anything."""

    SUBMIT_TASK = "task.submit"
    PATCH_TASK = "task.patch"
    CANCEL_TASK = "task.cancel"
    RETRY_TASK = "task.retry"
    CANCEL_TASKS = "tasks.cancel"
    RETRY_TASKS = "tasks.retry"
    SUBMIT_DAG = "dag.submit"
    ADD_TO_DAG = "dag.add"
    CANCEL_DAG = "dag.cancel"
    CREATE_DOCUMENT = "document.create"
    UPLOAD_DOCUMENT = "document.upload"
    REVERT_DOCUMENT = "document.revert"
    DELETE_DOCUMENT = "document.delete"
    PAUSE_DOCUMENT = "document.pause"
    RESUME_DOCUMENT = "document.resume"
    DECLARE_TYPE = "type.declare"
    REMOVE_TYPE = "type.remove"
    PAUSE_TYPE = "type.pause"
    RESUME_TYPE = "type.resume"
    SET_BREAKER = "breaker.set"
    OPEN_BREAKER = "breaker.open"
    RESET_BREAKER = "breaker.reset"
    SET_LIMITS = "limits.set"
    LIFT_LIMITS = "limits.lift"
    RESOLVE_LETTER = "letter.resolve"
    RESOLVE_LETTERS = "letters.resolve"
    CREATE_KEY = "key.create"
    CHANGE_KEY = "key.change"
    ROTATE_KEY = "key.rotate"
    REVOKE_KEY = "key.revoke"
    REGISTER_AGENT = "agent.register"
    CHANGE_AGENT = "agent.change"
    DELETE_AGENT = "agent.delete"
    CLAIM_TASKS = "tasks.claim"
    COMPLETE_CLAIM = "claim.complete"
    FAIL_CLAIM = "claim.fail"
    RELEASE_CLAIM = "claim.release"
    LIMIT_SPACE = "space.limit"
    CREATE_LINK = "login-link.create"
    BEGIN_SESSION = "session.begin"
    END_SESSION = "session.end"


class Deed(NamedTuple):
    """Something that a caller does, to tasks or to something that has a name, or to tasks of it."""

    caller: Principal
    action: Action
    target: str | None = None
    task_ids: Sequence[TaskId] = ()
    before: Facts | None = None
    after: Facts | None = None
    on_behalf_of: str | None = None


class Audited(NamedTuple):
    """A deed as it was kept; of its tasks, the first hundred."""

    seq: int
    at: datetime
    space: Space
    caller: str
    kind: str
    on_behalf_of: str | None
    key_id: KeyId | None
    address: str | None
    action: str
    target: str | None
    task_ids: tuple[TaskId, ...]
    tasks: int
    before: Facts | None
    after: Facts | None


class AuditFilter(NamedTuple):
    """Which deeds a list shows."""

    caller: str | None = None
    action: Action | None = None
    target: str | None = None
    since: datetime | None = None
    until: datetime | None = None
