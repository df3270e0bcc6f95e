"""`officeplane documents`: files in and out of an installation from a terminal, over HTTP."""

from officeplane.cli.documents.commands import app

__all__ = ["app"]
