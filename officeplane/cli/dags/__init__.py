"""`officeplane dags`: tasks that depend on each other, from a terminal, over HTTP."""

from officeplane.cli.dags.commands import app

__all__ = ["app"]
