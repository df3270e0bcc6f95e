"""`officeplane dead-letters`: what gave up, and what to do about it, from a terminal, over HTTP."""

from officeplane.cli.dead_letters.commands import app

__all__ = ["app"]
