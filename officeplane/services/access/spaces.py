"""Spaces: what each may use, and who says so.

What a space uses is counted at most once a second by each process, and only if
the space has a limit: in between the process adds what it has let in itself. So
several processes together may let in a little more than they should. Rates,
streams and waits are each process's own.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Generator
from contextlib import contextmanager
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from pydantic.alias_generators import to_camel

from officeplane.domain.audit import Action, Deed, Facts
from officeplane.domain.errors import OutsideError, SpaceNotFoundError
from officeplane.domain.principal import Kind, Principal
from officeplane.domain.quota import NAMES, UNLIMITED, Bucket, QuotaExceededError, Quotas
from officeplane.domain.space import Space
from officeplane.store import audit, pieces, spaces
from officeplane.store.connection import Executor, Ledger

KEPT_SECONDS: Final = 1.0
BYTES_KEPT_SECONDS: Final = 30.0
"""To add up what all documents take is more work than to count them."""

_NEVER: Final[tuple[float, Quotas | None]] = -math.inf, None
_Count: TypeAlias = Callable[[Executor, Space], Awaitable[int]]


class Usage(NamedTuple):
    """What a space uses."""

    waiting_tasks: int
    documents: int
    bytes: int


class Spaces:
    """The spaces of an installation, as one process sees them."""

    def __init__(self, ledger: Ledger, clock: Callable[[], float] = time.monotonic) -> None:
        self._ledger = ledger
        self._clock = clock
        self._quotas: dict[Space, tuple[float, Quotas]] = {}
        self._counts: dict[tuple[Space, str], tuple[float, int]] = {}
        self._buckets: dict[tuple[Space, str], Bucket] = {}
        self._held: Counter[tuple[Space, str]] = Counter()
        self._counting = asyncio.Lock()
        self._looking: dict[Space, asyncio.Task[Quotas]] = {}

    async def every(self, caller: Principal) -> dict[Space, Quotas]:
        """Return the spaces that a caller may know of, with their quotas."""
        found = await spaces.every(self._ledger)
        return {space: quotas for space, quotas in found.items() if caller.is_operator or caller.space == space}

    async def show(self, caller: Principal, name: str) -> tuple[Quotas, Usage]:
        """Return what a space may use and what it uses."""
        space, ledger = Space(name), self._ledger
        found = (await self.every(caller)).get(space)
        if found is None:
            raise SpaceNotFoundError(name)
        return found, Usage(
            await spaces.waiting_tasks(ledger, space),
            await spaces.documents(ledger, space),
            await pieces.bytes_of_space(ledger, space),
        )

    async def set(self, caller: Principal, name: str, quotas: Quotas) -> None:
        """Say what a space may use; that is for who has to do with all of them."""
        if not caller.is_operator:
            raise OutsideError(caller.id, "space", name)
        space = Space(name)

        async def limited(executor: Executor) -> None:
            before = await spaces.lock(executor, space)
            if not await spaces.set_quotas(executor, space, quotas):
                raise SpaceNotFoundError(name)
            deed = Deed(caller, Action.LIMIT_SPACE, name, before=_facts(before), after=_facts(quotas))
            await audit.write(executor, deed)

        await self._ledger.in_transaction(limited)
        self._quotas.pop(space, None)

    def has_no_limits(self, caller: Principal) -> bool:
        """Tell, without asking the ledger, whether a caller's space is known to have no limits."""
        at, quotas = self._quotas.get(caller.space, _NEVER)
        return quotas is UNLIMITED and self._clock() - at < KEPT_SECONDS

    async def is_limited(self, caller: Principal) -> bool:
        """Tell whether a caller's space has limits."""
        return await self._of(caller) is not UNLIMITED

    async def let_in_tasks(self, caller: Principal, count: int, edited: Collection[str] = ()) -> None:
        """Raise when a caller's space may not have so many tasks more, of which some edit these documents."""
        quotas = await self._of(caller)
        if quotas is UNLIMITED:
            return
        space, limit = caller.space, quotas.max_revisions_per_document
        if edited and limit is not None and await spaces.revisions_of_fullest(self._ledger, edited) >= limit:
            raise QuotaExceededError("maxRevisionsPerDocument", limit, f"{limit} revisions of a document")
        if edited and quotas.max_bytes is not None:
            await self._check_bytes(space, 1, quotas.max_bytes)
        limit = quotas.max_waiting_tasks
        if limit is not None:
            await self._check(space, "maxWaitingTasks", spaces.waiting_tasks, count, limit, "{limit} tasks that wait")
        self._take(space, "submissionsPerMinute", count, quotas.submissions_per_minute)
        self._add(space, "maxWaitingTasks", count)

    async def let_in_file(self, caller: Principal, size: int, revision: int | None) -> None:
        """Raise when a caller's space may not have a file more, which is to follow a revision or begin a document."""
        quotas = await self._of(caller)
        if quotas is UNLIMITED:
            return
        space, limit = caller.space, quotas.max_revisions_per_document
        if revision is not None and limit is not None and revision >= limit:
            raise QuotaExceededError("maxRevisionsPerDocument", limit, f"{limit} revisions of a document")
        if revision is None and quotas.max_documents is not None:
            await self._check(space, "maxDocuments", spaces.documents, 1, quotas.max_documents, "{limit} documents")
        if quotas.max_bytes is not None:
            await self._check_bytes(space, size, quotas.max_bytes)
        self._take(space, "uploadsPerMinute", 1, quotas.uploads_per_minute)
        self._add(space, "maxDocuments", revision is None)
        self._add(space, "maxBytes", size)

    async def may_stream(self, caller: Principal) -> int | None:
        """Return how many streams a caller's space may have in this process."""
        return (await self._of(caller)).max_streams

    async def may_wait(self, caller: Principal) -> int | None:
        """Return how many waits a caller's space may have in this process."""
        return (await self._of(caller)).max_waits

    @contextmanager
    def holding(self, caller: Principal, quota: str, limit: int | None) -> Generator[None, None, None]:
        """Count something in as long as it lasts; raise when there are so many already."""
        held = (caller.space, quota)
        if limit is not None and self._held[held] >= limit:
            raise QuotaExceededError(quota, limit, f"{limit} of these in a server", retry_after=1)
        self._held[held] += 1
        try:
            yield
        finally:
            self._held[held] -= 1

    async def _of(self, caller: Principal) -> Quotas:
        if caller.kind is Kind.SYSTEM:
            return UNLIMITED
        known = self._quotas.get(caller.space)
        if known is not None and self._clock() - known[0] < KEPT_SECONDS:
            return known[1]
        # Whoever asks meanwhile waits for the same answer, and goes on at the same moment: groups stay whole.
        looking = self._looking.get(caller.space)
        if looking is None:
            looking = self._looking[caller.space] = asyncio.ensure_future(self._look(caller.space))
            looking.add_done_callback(partial(self._looked, caller.space))
        return await asyncio.shield(looking)

    async def _look(self, space: Space) -> Quotas:
        now = self._clock()
        found = await spaces.quotas(self._ledger, space)
        found = UNLIMITED if found == UNLIMITED else found
        self._quotas[space] = now, found
        return found

    def _looked(self, space: Space, looking: "asyncio.Task[Quotas]") -> None:
        del self._looking[space]
        if not looking.cancelled():
            # Whoever asked may have gone; then nobody else looks at what went wrong.
            looking.exception()

    async def _check_bytes(self, space: Space, size: int, limit: int) -> None:
        what = "{limit} bytes of documents"
        await self._check(space, "maxBytes", pieces.bytes_of_space, size, limit, what, BYTES_KEPT_SECONDS)

    async def _check(
        self, space: Space, quota: str, count: _Count, more: int, limit: int, what: str, kept: float = KEPT_SECONDS
    ) -> None:
        # One at a time: who comes next finds what was counted, and what was let in since.
        async with self._counting:
            at, used = self._counts.get((space, quota), (-math.inf, 0))
            # What seems to be full may have been emptied since.
            seconds = min(kept, KEPT_SECONDS) if used + more > limit else kept
            if self._clock() - at >= seconds:
                used = await count(self._ledger, space)
                self._counts[space, quota] = self._clock(), used
        if used + more > limit:
            raise QuotaExceededError(quota, limit, what.format(limit=limit))

    def _add(self, space: Space, quota: str, more: int) -> None:
        known = self._counts.get((space, quota))
        if known is not None:
            self._counts[space, quota] = known[0], known[1] + more

    def _take(self, space: Space, quota: str, count: int, per_minute: int | None) -> None:
        if per_minute is None:
            return
        now = self._clock()
        bucket = self._buckets.get((space, quota))
        if bucket is None or bucket.per_minute != per_minute:
            bucket = self._buckets[space, quota] = Bucket(per_minute, now)
        seconds = bucket.take(count, now)
        if seconds:
            raise QuotaExceededError(quota, per_minute, f"{per_minute} a minute", math.ceil(seconds))


def _facts(quotas: Quotas) -> Facts:
    return {to_camel(name): getattr(quotas, name) for name in NAMES}
