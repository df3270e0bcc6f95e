"""`officeplane spaces`: which spaces there are, and what each may use."""

from officeplane.cli.spaces.commands import app

__all__ = ["app"]
