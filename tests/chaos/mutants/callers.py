"""What may go wrong with who may see what."""

from officeplane.domain import principal
from officeplane.domain.narrowing import Entries
from officeplane.domain.principal import Principal, Scope
from officeplane.services.access import authentication
from officeplane.store.queries import Query, load
from tests.chaos.mutants.texts import monkey_patch


def space_ignored() -> None:
    """Tasks are shown to whoever knows their ids, of whatever space they are."""
    for name in ("fetch", "visible", "page"):
        queries = load("tasks")
        source = queries[name].source
        asked = "(:seen_space::text IS NULL OR space = :seen_space::text)"
        assert source.count(asked) == 1, f"the mutant is stale: tasks.{name} does not ask for the space once"
        queries[name] = Query(queries[name].name, source.replace(asked, "(:seen_space::text IS NULL OR true)"))


def revoked_key_kept() -> None:
    """What was found of a key is never looked at again."""
    monkey_patch(authentication, "LOOK_SECONDS", 3600.0)
    monkey_patch(authentication, "KNOWN_SECONDS", 3600.0)


def scope_not_asked() -> None:
    """Whoever is known may do everything."""

    def may(_caller: Principal, _scope: Scope) -> bool:
        return True

    monkey_patch(Principal, "may", may)


def prefix_without_end() -> None:
    """Who is narrowed to a document has to do with all whose names begin like that."""
    exactly = principal.pattern

    def fits(name: str | None, entries: Entries) -> bool:
        return entries is None or any((name or "-").startswith(entry.rstrip("*")) for entry in entries)

    def pattern(entry: str) -> str:
        return exactly(entry.rstrip("*") + "*")

    monkey_patch(principal, "fits", fits)
    monkey_patch(principal, "pattern", pattern)
