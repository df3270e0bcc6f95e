"""Edit bases that a worker knows without asking: what its own settlement has made of a document.

The statement that ends an edit may claim the next task of the lane. From then on
nobody else can move the document's head, so that task need not look it up.
"""

from collections.abc import Mapping
from typing import Final

from officeplane.domain.ids import ClaimId
from officeplane.store.documents import EditStart

KNOWN_MAX: Final = 1_000


class EditBaseCache:
    """Edit bases by the claim of the task that starts from them."""

    def __init__(self) -> None:
        self._bases: dict[ClaimId, EditStart] = {}

    def learn(self, bases: Mapping[ClaimId, EditStart]) -> None:
        """Keep these until they are asked for; of those that nobody asks for the oldest go."""
        self._bases.update(bases)
        while len(self._bases) > KNOWN_MAX:
            del self._bases[next(iter(self._bases))]

    def take(self, claim_id: ClaimId) -> EditStart | None:
        """Return what a claimed task starts from, if that is known."""
        return self._bases.pop(claim_id, None)
