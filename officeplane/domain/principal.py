"""Principals: who calls, and what it may do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Scope(StrEnum):
    """What a caller may be allowed to do."""

    READ = "read"
    """See tasks, documents, events and figures."""
    EDIT = "edit"
    """Submit, change, cancel and retry tasks; upload and delete documents."""
    CONTROL = "control"
    """Pause and resume, open and reset circuit breakers, set limits, decide about dead letters."""
    ADMIN = "admin"
    """Make and revoke keys, and everything else."""


class Kind(StrEnum):
    """How a caller is known."""

    KEY = "key"
    LOCAL = "local"
    """It is on this machine, and needs no key."""
    ANYBODY = "anybody"
    """Nobody is asked for a key here."""


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who calls."""

    id: str
    kind: Kind
    scopes: frozenset[Scope]

    def may(self, scope: Scope) -> bool:
        """Tell whether this caller may do what needs a scope."""
        return scope in self.scopes or Scope.ADMIN in self.scopes


LOCAL: Final = Principal("local", Kind.LOCAL, frozenset(Scope))
ANYBODY: Final = Principal("anybody", Kind.ANYBODY, frozenset(Scope))
