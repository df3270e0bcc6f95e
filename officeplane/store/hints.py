"""Hints as rows tell them: which list a task that may run is to be put on."""

from officeplane.domain.hint import Hint
from officeplane.domain.priority import TIERS
from officeplane.domain.space import Space
from officeplane.store.connection import Row


def hint_in(row: Row) -> Hint:
    """Return the hint that a row with the columns `id`, `rung_tier` and `space` leads to."""
    return Hint(str(row["id"]), TIERS[row["rung_tier"]], Space(row["space"]))
