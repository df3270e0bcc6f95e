"""`officeplane types`: what can be asked for, and with which fields."""

from officeplane.cli.types.commands import types

__all__ = ["types"]
