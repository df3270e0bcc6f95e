"""Spaces: installations within an installation, which see nothing of each other.

Inside, what belongs to a space is named `space/name`. Those who call never write the
slash: what they say is qualified on its way in, and bare again on its way out. The
default space has no prefix, so that its names are the same inside and outside.
"""

from typing import Final, NewType

Space = NewType("Space", str)
QualifiedType = NewType("QualifiedType", str)
"""A task type of a space as it is called inside: what its valve and its counters are known by."""

DEFAULT: Final = Space("default")
SPACE_PATTERN: Final = r"^[a-z0-9][a-z0-9-]{0,62}$"


def qualified(space: Space, name: str) -> str:
    """Return what a name of a space is inside."""
    return name if space == DEFAULT else f"{space}/{name}"


def qualified_type(space: Space, task_type: str) -> QualifiedType:
    """Return what a task type of a space is inside."""
    return QualifiedType(qualified(space, task_type))


def qualified_key(space: Space, key: str) -> str:
    """Return what an idempotency key of a space is inside: it may hold a slash itself, but no line feed."""
    return key if space == DEFAULT else f"{space}\n{key}"


def bare_key(key: str) -> str:
    """Return what those who call know an idempotency key as."""
    return key.rpartition("\n")[2]


def bare(name: str) -> str:
    """Return what those who call know a name as."""
    _, slash, rest = name.partition("/")
    return rest if slash else name


def space_of(name: str) -> Space:
    """Return the space that a name inside belongs to."""
    space, slash, _ = name.partition("/")
    return Space(space) if slash else DEFAULT
