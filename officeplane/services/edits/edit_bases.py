"""Heads that a worker knows without asking: what its own settlement has made of a document.

The statement that ends an edit may claim the next task of the lane. From then on
nobody else can move the document's head, so that task need not look it up.
"""

from collections.abc import Mapping
from typing import Final

from officeplane.domain.ids import ClaimId
from officeplane.store.documents import Head

KNOWN_MAX: Final = 1_000


class KnownHeads:
    """Heads by the claim of the task that starts from them."""

    def __init__(self) -> None:
        self._heads: dict[ClaimId, Head] = {}

    def learn(self, heads: Mapping[ClaimId, Head]) -> None:
        """Keep these until they are asked for; of those that nobody asks for the oldest go."""
        self._heads.update(heads)
        while len(self._heads) > KNOWN_MAX:
            del self._heads[next(iter(self._heads))]

    def take(self, claim_id: ClaimId) -> Head | None:
        """Return what the document of a claimed task is at, if that is known."""
        return self._heads.pop(claim_id, None)
