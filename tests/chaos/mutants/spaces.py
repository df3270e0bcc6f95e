"""What may go wrong between spaces: what finds things of one noun does not ask for their space.

Each but the first breaks one query, so that all other ways to the same things are
as good as ever, and who looks has to come this way.
"""

from collections.abc import Sequence
from dataclasses import replace

from officeplane.domain.event import Event
from officeplane.domain.principal import Principal
from officeplane.services.observe.events import Events
from tests.chaos.mutants.texts import change, monkey_patch


def space_ignored() -> None:
    """Tasks are shown to whoever knows their ids, of whatever space they are."""
    for query in ("fetch", "visible", "page"):
        _ask_for_no_space("tasks", query, "space")


def dag_shown_across() -> None:
    """A DAG is shown to whoever knows its id, of whatever space it is."""
    _ask_for_no_space("dags", "fetch", "g.space")


def dags_listed_across() -> None:
    """The list of DAGs has those of all spaces."""
    _ask_for_no_space("dags", "page", "g.space")


def documents_listed_across() -> None:
    """The list of documents has those of all spaces."""
    _ask_for_no_space("documents", "page", "d.space")


def pauses_listed_across() -> None:
    """The list of what is paused has documents of all spaces."""
    _ask_for_no_space("documents", "paused", "p.space")


def letter_shown_across() -> None:
    """A dead letter is shown to whoever knows its task's id, of whatever space it is."""
    _ask_for_no_space("dead_letters", "latest", "space")


def letters_listed_across() -> None:
    """The list of dead letters has those of all spaces."""
    _ask_for_no_space("dead_letters", "page", "space")


def events_told_across() -> None:
    """Who follows events is told those of all spaces."""
    seen_by = Events._seen_by  # pyright: ignore[reportPrivateUsage]

    async def told(events: Events, caller: Principal, group: Sequence[Event]) -> Sequence[Event]:
        return await seen_by(events, caller, [replace(event, space=caller.space) for event in group])

    monkey_patch(Events, "_seen_by", told)


def deeds_listed_across() -> None:
    """The audit has what was done in all spaces."""
    change("audit", "page", "space = :space::text AND (at, seq)", "(at, seq)")


def keys_listed_across() -> None:
    """The list of keys has those of all spaces."""
    _ask_for_no_space("api_keys", "page", "space")


def breakers_listed_across() -> None:
    """The list of breakers has what was set for them in any space."""
    change("valves", "of_space", "END = :space::text", "END = :space::text OR true")


def figures_of_all() -> None:
    """Tasks are counted in all spaces."""
    _ask_for_no_space("statistics", "counts", "space")


def _ask_for_no_space(noun: str, query: str, column: str) -> None:
    unasked = "(:seen_space::text IS NULL OR"
    change(noun, query, f"{unasked} {column} = :seen_space::text)", f"{unasked} true)")
