"""What OfficePlane refuses, in domain words with the facts inside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from officeplane.domain.lifecycle import TaskState
from officeplane.domain.space import bare

ERRORS_SHOWN: Final = 100
"""How many of the fields that were wrong a refusal names."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that was wrong, and how."""

    field: str
    message: str


class OfficePlaneError(Exception):
    """Base of every refusal; `code` is its stable name."""

    code: ClassVar[str] = "error"
    facts: Mapping[str, object] = {}
    """What a program may want to know of it besides."""


class TaskNotFoundError(OfficePlaneError):
    """No task has this id."""

    code = "task_not_found"

    def __init__(self, task_id: str) -> None:
        super().__init__(f"There is no task {task_id!r}.")
        self.task_id = task_id


class IllegalStateError(OfficePlaneError):
    """The task is in a state in which this cannot be done."""

    code = "illegal_state"

    def __init__(self, task_id: str, state: TaskState, what: str, because: str = "") -> None:
        super().__init__(f"Task {task_id} is {state}; it cannot be {what}{because and ': '}{because}.")
        self.task_id = task_id
        self.state = state


class TwinUnfinishedError(IllegalStateError):
    """The task must not wait twice, and another that does the same is unfinished."""

    def __init__(self, task_id: str, state: TaskState, twin_id: str) -> None:
        super().__init__(task_id, state, f"retried while task {twin_id}, which does the same, is unfinished")
        self.facts = {"twinId": twin_id}


class DagNotFoundError(OfficePlaneError):
    """No DAG has this id."""

    code = "dag_not_found"

    def __init__(self, dag_id: str) -> None:
        super().__init__(f"There is no DAG {dag_id!r}.")


class DagEndedError(OfficePlaneError):
    """The DAG has ended, so this cannot be done."""

    code = IllegalStateError.code

    def __init__(self, dag_id: str, status: str, what: str) -> None:
        super().__init__(f"DAG {dag_id} is {status}; it cannot be {what}.")
        self.status = status


class DeadLetterNotFoundError(OfficePlaneError):
    """No task of this id has given up, or no letter has this fingerprint."""

    code = "dead_letter_not_found"

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no dead letter of {what!r}.")


class LetterResolvedError(OfficePlaneError):
    """It was decided before what becomes of the letter."""

    code = IllegalStateError.code

    def __init__(self, task_id: str, resolution: str) -> None:
        super().__init__(f"The dead letter of task {task_id} was resolved before: {resolution}.")


class InvalidRequestError(OfficePlaneError):
    """The request breaks a rule; nothing was stored."""

    code = "invalid_request"

    def __init__(self, detail: str, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = tuple(errors)

    def within(self, prefix: str) -> "InvalidRequestError":
        """Return the same refusal for a body that lies inside a larger one."""
        if not prefix:
            return self
        inner = self.errors or (FieldError("", self.detail),)
        moved = [FieldError(f"{prefix}.{e.field}" if e.field else prefix, e.message) for e in inner]
        return type(self)(f"{prefix}: {self.detail}", moved)


class TaskTypeTakenError(OfficePlaneError):
    """The name is that of a type which is found in the code."""

    code = "task_type_taken"

    def __init__(self, name: str) -> None:
        super().__init__(f"Task type {name!r} is built in or has a handler: declare yours under another name.")


class TaskTypeNotFoundError(OfficePlaneError):
    """No type of this name is declared."""

    code = "task_type_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(f"No task type {name!r} is declared; what is built in or has a handler cannot be removed.")


class TaskTypeInUseError(OfficePlaneError):
    """A declared type has tasks that are unfinished."""

    code = "task_type_in_use"

    def __init__(self, name: str) -> None:
        super().__init__(f"Task type {name!r} has unfinished tasks: let them end, or cancel them, and remove it then.")


class UnknownTaskTypeError(InvalidRequestError):
    """No handler of this installation has this name."""

    code = "unknown_task_type"


class NoBreakerError(OfficePlaneError):
    """Failures of this type hold nothing back."""

    code = "no_circuit_breaker"

    def __init__(self, task_type: str) -> None:
        super().__init__(
            f"Task type {task_type!r} has no circuit breaker: edits of documents have none. "
            f"To hold it back, pause it: POST /api/task-types/{task_type}/pause."
        )


class InvalidPayloadError(InvalidRequestError):
    """The payload does not fit the model of its task type."""

    code = "invalid_payload"


class InvalidReferenceError(InvalidRequestError):
    """A reference, or a dependency, names nothing that it may."""

    code = "invalid_reference"


class CycleError(InvalidRequestError):
    """Tasks of a DAG wait for each other in a circle."""

    code = "cycle"


class InvalidParameterError(InvalidRequestError):
    """A query parameter or header has a value that is not known."""

    code = "invalid_parameter"


class IdempotencyMismatchError(InvalidRequestError):
    """The key was used before, with another body."""

    code = "idempotency_mismatch"


class IdempotencyInProgressError(OfficePlaneError):
    """A request with the same key is still being handled."""

    code = "idempotency_in_progress"

    def __init__(self) -> None:
        super().__init__("A request with the same idempotency key is still being handled; try again in a second.")


class InvalidCursorError(OfficePlaneError):
    """The cursor was not made by this API."""

    code = "invalid_cursor"

    def __init__(self) -> None:
        super().__init__("The cursor is not one that this API gave out; start again without it.")


class DatabaseUnavailableError(OfficePlaneError):
    """Postgres cannot be reached or did not answer in time."""

    code = "database_unavailable"


class DocumentNotFoundError(OfficePlaneError):
    """No document has this id, or it was deleted. `nor_task`: an unfinished task of it would do as well."""

    code = "document_not_found"

    def __init__(self, document_id: str, *, nor_task: bool = False) -> None:
        document_id = bare(document_id)
        super().__init__(
            f"There is no document {document_id!r} and no unfinished task of it; "
            "GET /api/documents?paused=true lists what is paused."
            if nor_task
            else f"There is no document {document_id!r}; PUT /api/documents/{document_id} makes one."
        )


class RevisionNotFoundError(OfficePlaneError):
    """The document has no revision of this number."""

    code = "revision_not_found"

    def __init__(self, document_id: str, revision: int) -> None:
        document_id = bare(document_id)
        super().__init__(f"Document {document_id!r} has no revision {revision}.")


class NodeNotFoundError(OfficePlaneError):
    """The document has no node of this id; `nearest` is one that was perhaps meant."""

    code = "node_not_found"

    def __init__(self, node_id: str, nearest: str | None = None) -> None:
        meant = "" if nearest is None else f"; did you mean {nearest!r}?"
        super().__init__(
            f"The document has no node {node_id!r}{meant or '.'} The call `outline` lists the nodes there are, and "
            "`find?text=` tells the ids of those that say something."
        )
        self.node_id = node_id
        self.nearest = nearest


class DocumentExistsError(OfficePlaneError):
    """A document of this id is there already."""

    code = "document_exists"

    def __init__(self, document_id: str) -> None:
        document_id = bare(document_id)
        super().__init__(f"There is a document {document_id!r} already.")


class StaleRevisionError(OfficePlaneError):
    """The document is not at the revision that the caller has seen; `facts` may say who changed it since."""

    code = "stale_revision"

    def __init__(
        self, expected: int, actual: int, facts: Mapping[str, object] | None = None, message: str | None = None
    ) -> None:
        super().__init__(message or f"The document is at revision {actual}, not {expected}: read it again.")
        self.facts = {**(facts or {}), "expected": expected, "actual": actual}


class MergeConflictError(OfficePlaneError):
    """What an upload has changed cannot be done to what others have made; `facts` say what is in conflict."""

    code = "merge_conflict"

    def __init__(self, message: str, facts: Mapping[str, object]) -> None:
        super().__init__(f"{message[:1].upper()}{message[1:]}.")
        self.facts = facts


class PreconditionRequiredError(OfficePlaneError):
    """The upload would cover up a document, and does not say that this is meant; `facts` say who made it what it is."""

    code = "precondition_required"

    def __init__(self, document_id: str, revision: int, facts: Mapping[str, object]) -> None:
        document_id = bare(document_id)
        super().__init__(
            f"There is a document {document_id!r} already, which the file would cover up: say which revision was read, "
            'as in `If-Match: "1"`, or that it may be covered up whatever it is, with `If-Match: *`.'
        )
        self.facts = {"revision": revision, **facts}


class TooLargeToShowError(OfficePlaneError):
    """What is in the document is more than is put into one answer."""

    code = "too_large_to_show"

    def __init__(self, message: str = "it says more than is shown") -> None:
        super().__init__(message)


class OverloadedError(OfficePlaneError):
    """There is more to do than can be done in time; it may be asked again."""

    code = "overloaded"


class SpaceNotFoundError(OfficePlaneError):
    """No space has this name."""

    code = "space_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no space {name!r}; one is there from its first key on.")


class ForbiddenError(OfficePlaneError):
    """The caller is known, and has not the scope that this needs."""

    code = "forbidden"

    def __init__(self, scope: str, caller: str) -> None:
        super().__init__(f"This needs the scope {str(scope)!r}, which {caller} has not.")
        self.facts = {"scope": scope}


class OutsideError(OfficePlaneError):
    """The caller is narrowed to documents, task types or priorities, of which this is none."""

    code = ForbiddenError.code

    def __init__(self, caller: str, what: str, name: str) -> None:
        super().__init__(f"{caller} is narrowed, and may have nothing to do with {what} {name!r}.")
        self.facts = {"outside": what}


class AgentNotFoundError(OfficePlaneError):
    """No agent has this id."""

    code = "agent_not_found"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no agent {name!r}; PUT /api/agents/{name} registers one.")


class AgentBusyError(OfficePlaneError):
    """The agent holds claims, so it cannot be removed."""

    code = "agent_busy"

    def __init__(self, name: str, claims: int) -> None:
        super().__init__(
            f"Agent {name} holds {claims} {'claim' if claims == 1 else 'claims'}; let it complete or release "
            "what it has, or cancel these tasks, and delete it then."
        )


class ApiKeyNotFoundError(OfficePlaneError):
    """No key that works has this id or name."""

    code = "key_not_found"

    def __init__(self, key: str) -> None:
        super().__init__(f"There is no key {key!r} that works.")


class ApiKeyExistsError(OfficePlaneError):
    """Another key that works has this name."""

    code = "key_exists"

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a key {name!r} already: rotate it, revoke it, or take another name.")
