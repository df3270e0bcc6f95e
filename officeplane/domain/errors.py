"""What OfficePlane refuses, in domain words with the facts inside."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from officeplane.domain.lifecycle import TaskState


@dataclass(frozen=True, slots=True)
class FieldError:
    """One field that was wrong, and how."""

    field: str
    message: str


class OfficePlaneError(Exception):
    """Base of every refusal; `code` is its stable name."""

    code: ClassVar[str] = "error"


class TaskNotFoundError(OfficePlaneError):
    """No task has this id."""

    code = "task_not_found"

    def __init__(self, task_id: str) -> None:
        super().__init__(f"There is no task {task_id!r}.")
        self.task_id = task_id


class IllegalStateError(OfficePlaneError):
    """The task is in a state in which this cannot be done."""

    code = "illegal_state"

    def __init__(self, task_id: str, state: TaskState, deed: str) -> None:
        super().__init__(f"Task {task_id} is {state}; it cannot be {deed}.")
        self.task_id = task_id
        self.state = state


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


class UnknownTaskTypeError(InvalidRequestError):
    """No handler of this installation has this name."""

    code = "unknown_task_type"


class InvalidPayloadError(InvalidRequestError):
    """The payload does not fit the model of its task type."""

    code = "invalid_payload"


class InvalidReferenceError(InvalidRequestError):
    """A reference names no earlier sibling."""

    code = "invalid_reference"


class InvalidParameterError(InvalidRequestError):
    """A query parameter or header has a value that is not known."""

    code = "invalid_parameter"


class NotSupportedYetError(InvalidRequestError):
    """The field exists in the contract but is not built yet."""

    code = "not_supported_yet"


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
