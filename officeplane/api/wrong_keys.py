"""Wrong keys: whoever guesses is told to wait after a few, and nothing is looked up for him."""

import time
from collections import Counter
from typing import Final

FAILURES_MAX: Final = 10
"""How many wrong keys a second are looked at, of one address."""

ADDRESSES_MAX: Final = 10_000
"""Of how many addresses that is counted; beyond them all are counted as one."""


class WrongKeys:
    """Wrong keys that came: those of this second by their addresses, and how many there were in all."""

    def __init__(self) -> None:
        self.total = 0
        self._second = 0
        self._by_address: Counter[str] = Counter()

    def are_too_many(self, address: str) -> bool:
        """Tell whether so many came from there in this second that the next one is not looked at."""
        return self._counted()[self._place(address)] >= FAILURES_MAX

    def add(self, address: str) -> None:
        """Count one more."""
        self.total += 1
        self._counted()[self._place(address)] += 1

    def _counted(self) -> Counter[str]:
        second = int(time.monotonic())
        if second != self._second:
            self._second = second
            self._by_address.clear()
        return self._by_address

    def _place(self, address: str) -> str:
        return address if address in self._by_address or len(self._by_address) < ADDRESSES_MAX else "*"
