"""Why an attempt failed: a closed set of kinds, and what each costs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

MESSAGE_LIMIT: Final = 8_192


class FailureKind(StrEnum):
    """The one word that says why an attempt failed."""

    ERROR = "error"
    TIMEOUT = "timeout"
    CRASH = "crash"
    RATE_LIMITED = "rate_limited"
    INVALID_OUTPUT = "invalid_output"
    INVALID_EDIT = "invalid_edit"
    EDIT_CONFLICT = "edit_conflict"
    PERMANENT = "permanent"
    CANCELLED = "cancelled"
    BUDGET_EXCEEDED = "budget_exceeded"
    AUTH_FAILURE = "auth_failure"
    INFRASTRUCTURE = "infrastructure"


_K = FailureKind

HOPELESS: Final = frozenset(
    {_K.INVALID_EDIT, _K.EDIT_CONFLICT, _K.PERMANENT, _K.CANCELLED, _K.BUDGET_EXCEEDED, _K.AUTH_FAILURE}
)
ANSWERS: Final = frozenset({_K.INVALID_EDIT, _K.EDIT_CONFLICT})
"""What asked for the wrong thing fails of these: an answer to whoever asked, which nobody else has to decide about."""

UNCHARGED: Final = frozenset({_K.RATE_LIMITED, _K.CANCELLED, _K.INFRASTRUCTURE})


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong in one attempt."""

    kind: FailureKind
    message: str
    child: int | None = None
    """Of an atomic batch, the position of the child that it was about."""
    retry_after: float | None = None
    """For how many seconds it asked to be left alone, if it did."""
    may_be_retried: bool = True
    """Whether whoever failed thinks that another attempt may do better."""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])
    """What differs from case to case, for programs; the message is the same for equal causes."""

    def __post_init__(self) -> None:
        """Keep of the message what can be stored: it may repeat whatever a payload or a file says."""
        object.__setattr__(self, "message", storable(self.message))

    @property
    def is_charged(self) -> bool:
        """Whether the attempt counts against `maxRetries`."""
        return self.kind not in UNCHARGED


def describe(error: BaseException) -> str:
    """Return the error's text, whatever the error's own methods do."""
    name = type(error).__name__
    try:
        text = str(error)
        described = f"{name}: {text}" if text else name
    except Exception:  # noqa: BLE001 - a broken __str__ must not break the settlement
        described = f"{name}: (the error could not be described)"
    return storable(described)


def storable(text: str) -> str:
    """Return the text as Postgres can keep it: no NUL, no lone surrogate, bounded."""
    clean = text.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= MESSAGE_LIMIT else clean[: MESSAGE_LIMIT - 1] + "…"
