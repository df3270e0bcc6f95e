"""Deliveries: what a destination outside is still to be told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

FIRST_DELAY_SECONDS: Final = 5.0
LONGEST_DELAY_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one delivery is about, and how often it was tried."""

    id: int
    body: Mapping[str, Any]
    tries: int

    @property
    def retry_seconds(self) -> float:
        """How long to wait after this try has failed."""
        # More doublings than these would be cut off anyway, and a large power is slow.
        doublings = min(self.tries - 1, 16)
        return min(FIRST_DELAY_SECONDS * 2.0**doublings, LONGEST_DELAY_SECONDS)
