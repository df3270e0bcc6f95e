"""What may go wrong when nobody looks after what stays behind."""

from tests.chaos.mutants.texts import monkey_patch
from workers.loop import Loop
from workers.maintenance import all_chores
from workers.maintenance.chore import Chore


def no_sweeper() -> None:
    """Nobody rings for hints that were lost, and nobody looks for what they would have led to."""
    _without("sweeper")
    monkey_patch(Loop, "_shall_look", _never)


def no_reaper() -> None:
    """Nobody ends the attempts of the dead."""
    _without("reaper")


def _never(_loop: Loop, _hints: list[str]) -> bool:
    return False


def _without(name: str) -> None:
    every = all_chores.all_chores

    def some() -> list[Chore]:
        return [chore for chore in every() if chore.name != name]

    monkey_patch(all_chores, "all_chores", some)
