"""`officeplane keys`: by which callers are known, on the database, so that nobody locks himself out."""

from officeplane.cli.keys.commands import app

__all__ = ["app"]
