"""`officeplane tasks`: the queue from a terminal, over HTTP."""

from officeplane.cli.tasks.commands import app

__all__ = ["app"]
