"""Callers of tests' own."""

from dataclasses import replace

from officeplane.domain.principal import LOCAL, Kind, Principal, Scope
from officeplane.domain.space import DEFAULT, Space


def called(name: str) -> Principal:
    """Return somebody who may do everything in the default space."""
    return replace(LOCAL, id=name)


def a_caller(
    *scopes: Scope,
    name: str = "key:a",
    space: str = DEFAULT,
    documents: tuple[str, ...] | None = None,
    task_types: tuple[str, ...] | None = None,
    most_urgent: int = 0,
    agents: tuple[str, ...] | None = None,
) -> Principal:
    """Return somebody who may do this much; without scopes, everything in a space."""
    return Principal(
        name, Kind.KEY, frozenset(scopes or Scope), Space(space), documents, task_types, most_urgent, agents
    )
