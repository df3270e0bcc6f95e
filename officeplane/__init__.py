"""OfficePlane: a task queue for edits of Office documents."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from officeplane.domain.retry import RetryPolicy
    from officeplane.handlers.context import BlockingContext, Context
    from officeplane.handlers.contract import PermanentFailure, RateLimited, handler
    from officeplane.handlers.facts import TaskFacts
    from officeplane.handlers.spawning import Suspended
    from officeplane.plane import Plane, open_plane

__all__ = [
    "BlockingContext",
    "Context",
    "PermanentFailure",
    "Plane",
    "RateLimited",
    "RetryPolicy",
    "Suspended",
    "TaskFacts",
    "handler",
    "open_plane",
]

_HOMES: Final = {
    "BlockingContext": "officeplane.handlers.context",
    "Context": "officeplane.handlers.context",
    "PermanentFailure": "officeplane.handlers.contract",
    "Plane": "officeplane.plane",
    "RateLimited": "officeplane.handlers.contract",
    "RetryPolicy": "officeplane.domain.retry",
    "Suspended": "officeplane.handlers.spawning",
    "TaskFacts": "officeplane.handlers.facts",
    "handler": "officeplane.handlers.contract",
    "open_plane": "officeplane.plane",
}


def __getattr__(name: str) -> Any:
    # Imported when asked for: handlers need no database driver, `officeplane --help` nothing at all.
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
