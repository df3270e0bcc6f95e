"""`officeplane documents`: files in and out of an installation, read and edited from a terminal, over HTTP."""

from officeplane.cli.documents import commands, editing_commands, reading_commands
from officeplane.cli.documents.options import app

__all__ = ["app", "commands", "editing_commands", "reading_commands"]
