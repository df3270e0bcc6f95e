"""Slots: how many attempts a worker process runs at once."""

import asyncio


class Slots:
    """Free places; whoever takes some gives back what it did not use."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._free = total
        self._is_open = True
        self._some_free = asyncio.Event()
        self._some_free.set()

    async def reserve(self, up_to: int) -> int:
        """Take at least one slot and at most that many; none once closed."""
        # A claim whose answer was lost, and which is found again, comes on top of what was reserved.
        while self._free <= 0 and self._is_open:
            self._some_free.clear()
            await self._some_free.wait()
        taken = min(self._free, up_to) if self._is_open else 0
        self._free -= taken
        return taken

    def release(self, count: int = 1) -> None:
        """Give slots back."""
        self._free += count
        if self._free > 0:
            self._some_free.set()

    def close(self) -> None:
        """Give out no more slots."""
        self._is_open = False
        self._some_free.set()
