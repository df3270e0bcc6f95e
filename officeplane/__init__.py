"""OfficePlane: a task queue for edits of Office documents."""

from typing import TYPE_CHECKING, Any

from officeplane.handlers.context import BlockingContext, Context
from officeplane.handlers.contract import PermanentFailure, handler

if TYPE_CHECKING:
    from officeplane.plane import Plane, open_plane

__all__ = ["BlockingContext", "Context", "PermanentFailure", "Plane", "handler", "open_plane"]


def __getattr__(name: str) -> Any:
    # A module of handlers needs no database driver, and neither does `officeplane --help`.
    if name in ("Plane", "open_plane"):
        from officeplane import plane  # noqa: PLC0415

        return getattr(plane, name)
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
