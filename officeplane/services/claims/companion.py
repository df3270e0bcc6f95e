"""The companion of a claim: what a process remembers from one statement that claims to the next.

An agent's claim over HTTP needs none: it is over with the request. A worker's
desk is one, because a worker may have one suspect at a time, and because a
claim whose answer never came may have been made all the same.
"""

from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from officeplane.domain.ids import ClaimId
from officeplane.domain.task import ClaimedTask
from officeplane.store.claims import Claimant


@dataclass(slots=True)
class ClaimStatement:
    """One statement that claims: for whom, and afterwards what it took."""

    who: Claimant
    """Who claims, with what this statement may take."""
    claimed: list[ClaimedTask] = field(default_factory=list[ClaimedTask])
    by_limits: bool = False
    """Whether the limits of their types have admitted these."""


class Companion(Protocol):
    """What is asked before a statement claims, and told of it afterwards."""

    def around(self, who: Claimant, claim_ids: Iterable[ClaimId]) -> AbstractContextManager[ClaimStatement]:
        """Enter before a statement with who claims, and the claims it may make; leave when it is over."""
        ...


class _Nobody:
    @contextmanager
    def around(self, who: Claimant, claim_ids: Iterable[ClaimId]) -> Generator[ClaimStatement, None, None]:
        del claim_ids
        yield ClaimStatement(who)


NOBODY: Final[Companion] = _Nobody()
"""For a claim that nothing else stands beside."""
