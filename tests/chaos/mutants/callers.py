"""What may go wrong with what callers may do."""

from officeplane.domain import principal
from officeplane.domain.narrowing import Entries
from officeplane.domain.principal import Principal, Scope
from officeplane.services.access import authentication
from tests.chaos.mutants.texts import monkey_patch


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
