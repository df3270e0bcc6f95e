"""A hint: a task's id, the tier in which it waits, and the space whose turn it uses up."""

from typing import NamedTuple

from officeplane.domain.priority import Tier
from officeplane.domain.space import DEFAULT, Space


class Hint(NamedTuple):
    """What is put on a list in Redis: here, or in this task's document, may be work."""

    task_id: str
    tier: Tier
    space: Space = DEFAULT
