"""OfficePlane: a task queue for edits of Office documents."""

from officeplane.handlers.context import BlockingContext, Context
from officeplane.handlers.contract import PermanentFailure, handler
from officeplane.plane import Plane, open_plane

__all__ = ["BlockingContext", "Context", "PermanentFailure", "Plane", "handler", "open_plane"]
