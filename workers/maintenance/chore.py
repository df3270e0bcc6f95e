"""The shape of a chore: a name, whether it needs Redis, and one round of work."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from officeplane.config import Settings
from officeplane.runtime import WorkerServices

Round = Callable[[WorkerServices, Settings], Awaitable[float]]
"""Does one round and returns the seconds until the next is due."""


@dataclass(frozen=True, slots=True)
class Chore:
    """Something the leader does again and again."""

    name: str
    needs_redis: bool
    round: Round
