"""`officeplane audit`: who has changed what, from where."""

from officeplane.cli.audit.commands import audit

__all__ = ["audit"]
