"""What may go wrong when nobody looks after what stays behind."""

from tests.chaos.mutants.texts import monkey_patch
from workers.maintenance import catalogue
from workers.maintenance.chore import Chore


def no_sweeper() -> None:
    """Nobody rings for hints that were lost."""
    _without("sweeper")


def no_reaper() -> None:
    """Nobody ends the attempts of the dead."""
    _without("reaper")


def _without(name: str) -> None:
    every = catalogue.all_chores

    def some() -> list[Chore]:
        return [chore for chore in every() if chore.name != name]

    monkey_patch(catalogue, "all_chores", some)
