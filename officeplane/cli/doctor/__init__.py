"""`officeplane doctor`: an installation is examined part by part, and checked for what is wrong and what to do."""

from officeplane.cli.doctor.commands import doctor

__all__ = ["doctor"]
