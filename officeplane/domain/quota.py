"""Quotas: how much a space, or one key in it, may use, and what is told to who asks for more."""

from dataclasses import dataclass, fields
from typing import ClassVar, Final, NamedTuple

from officeplane.domain.errors import OverloadedError
from officeplane.domain.space import DEFAULT, Space

FULL_SECONDS: Final = 10
"""After how long it is worth asking again where room comes only by work that ends or by something that is deleted."""


@dataclass(frozen=True, slots=True)
class Quotas:
    """What somebody may use; None: as much as he likes."""

    max_waiting_tasks: int | None = 200_000
    max_documents: int | None = 100_000
    max_bytes: int | None = 100 * 10**9
    max_revisions_per_document: int | None = 100_000
    submissions_per_minute: int | None = None
    uploads_per_minute: int | None = None
    max_streams: int | None = 100
    max_waits: int | None = 1_000
    max_agents: int | None = 1_000

    def beyond(self, outer: "Quotas") -> str | None:
        """Return one of these that is more than another's; None if none is."""
        for name in NAMES:
            limit, others = getattr(self, name), getattr(outer, name)
            if others is not None and (limit is None or limit > others):
                return name
        return None


NAMES: Final = tuple(field.name for field in fields(Quotas))
OUTSIDE: Final = {name[0] + name.title().replace("_", "")[1:]: name for name in NAMES}
"""Their names as the world outside knows them."""
UNLIMITED: Final = Quotas(**dict.fromkeys(NAMES))


def facts_of(quotas: Quotas) -> dict[str, int | None]:
    """Return quotas by their names outside."""
    return {outside: getattr(quotas, name) for outside, name in OUTSIDE.items()}


def usual(space: Space) -> Quotas:
    """Return the quotas of a space of which nobody has said any."""
    return UNLIMITED if space == DEFAULT else Quotas()


class Account(NamedTuple):
    """Whose use is counted: that of a space, or of one caller in it."""

    space: Space
    caller: str | None = None


class QuotaExceededError(OverloadedError):
    """A space, or a key, asks for more than it may use."""

    code: ClassVar[str] = OverloadedError.code

    def __init__(self, account: Account, quota: str, limit: int, what: str, retry_after: int = FULL_SECONDS) -> None:
        who = "This space" if account.caller is None else "This key"
        super().__init__(f"{who} may have {what}; whoever runs this installation can allow more.")
        self.facts = {"quota": quota, "limit": limit}
        self.retry_after = retry_after


class Bucket:
    """A minute's worth of tokens, which fills again evenly."""

    def __init__(self, per_minute: int, now: float) -> None:
        self.per_minute = per_minute
        self._tokens = float(per_minute)
        self._at = now

    def take(self, count: int, now: float) -> float:
        """Take tokens, and return 0; or take none, and return in how many seconds there may be enough.

        What is more than ever fits is let through when the bucket is full, and paid for afterwards.
        """
        self._tokens = min(self.per_minute, self._tokens + (now - self._at) * self.per_minute / 60)
        self._at = now
        missing = min(count, self.per_minute) - self._tokens
        if missing > 0 or self.per_minute == 0:
            return max(1.0, missing * 60 / self.per_minute) if self.per_minute else 60.0
        self._tokens -= count
        return 0.0
