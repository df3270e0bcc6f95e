"""Spaces: what each may use, and who says so; a key may have limits of its own besides.

What a space uses is counted at most once a second by each process, and only if
the space has a limit: in between the process adds what it has let in itself. So
several processes together may let in a little more than they should. Rates,
streams and waits are each process's own.
"""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from officeplane.domain.audit import Action, Deed
from officeplane.domain.errors import OutsideError, SpaceNotFoundError
from officeplane.domain.principal import Principal
from officeplane.domain.quota import UNLIMITED, Account, Bucket, QuotaExceededError, Quotas, facts_of
from officeplane.domain.space import Space
from officeplane.store import agents, audit, pieces, spaces
from officeplane.store.connection import Executor, Ledger

KEPT_SECONDS: Final = 1.0
BYTES_KEPT_SECONDS: Final = 30.0
"""To add up what all documents take is more work than to count them."""

_NEVER: Final[tuple[float, Quotas | None]] = -math.inf, None
_Count: TypeAlias = Callable[[Executor, Account], Awaitable[int]]


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
        self._counts: dict[tuple[Account, str], tuple[float, int]] = {}
        self._buckets: dict[tuple[Account, str], Bucket] = {}
        self._held: Counter[tuple[Account, str]] = Counter()
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
        whole = Account(space)
        return found, Usage(
            await spaces.waiting_tasks(ledger, whole),
            await spaces.documents(ledger, whole),
            await pieces.bytes_of(ledger, whole),
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
            deed = Deed(caller, Action.LIMIT_SPACE, name, before=facts_of(before), after=facts_of(quotas))
            await audit.write(executor, deed)

        await self._ledger.in_transaction(limited)
        self._quotas.pop(space, None)

    def has_no_limits(self, caller: Principal) -> bool:
        """Tell, without asking the ledger, whether a caller and its space are known to have no limits."""
        at, quotas = self._quotas.get(caller.space, _NEVER)
        return quotas is UNLIMITED and caller.quotas is UNLIMITED and self._clock() - at < KEPT_SECONDS

    async def is_limited(self, caller: Principal) -> bool:
        """Tell whether a caller or its space has limits."""
        return bool(await self._limits(caller))

    async def let_in_tasks(self, caller: Principal, count: int, edited: Collection[str] = ()) -> None:
        """Raise when a caller or its space may not have so many tasks more, of which some edit these documents."""
        for account, quotas in await self._limits(caller):
            limit = quotas.max_revisions_per_document
            if edited and limit is not None and await spaces.revisions_of_fullest(self._ledger, edited) >= limit:
                raise _too_many_revisions(account, limit)
            if edited:
                await self._check_bytes(account, 1, quotas.max_bytes)
            waiting, what = quotas.max_waiting_tasks, "{limit} tasks that wait"
            await self._check(account, "maxWaitingTasks", spaces.waiting_tasks, count, waiting, what)
            self._take(account, "submissionsPerMinute", count, quotas.submissions_per_minute)
            self._add(account, "maxWaitingTasks", count)

    async def let_in_file(self, caller: Principal, size: int, revision: int | None) -> None:
        """Raise when a caller or its space may not have a file more, to follow a revision or begin a document."""
        for account, quotas in await self._limits(caller):
            limit = quotas.max_revisions_per_document
            if revision is not None and limit is not None and revision >= limit:
                raise _too_many_revisions(account, limit)
            if revision is None:
                limit, what = quotas.max_documents, "{limit} documents"
                await self._check(account, "maxDocuments", spaces.documents, 1, limit, what)
            await self._check_bytes(account, size, quotas.max_bytes)
            self._take(account, "uploadsPerMinute", 1, quotas.uploads_per_minute)
            self._add(account, "maxDocuments", revision is None)
            self._add(account, "maxBytes", size)

    async def let_in_agent(self, caller: Principal) -> None:
        """Raise when a caller or its space may not have an agent more."""
        for account, quotas in await self._limits(caller):
            limit, what = quotas.max_agents, "{limit} agents"
            await self._check(account, "maxAgents", agents.count, 1, limit, what)
            self._add(account, "maxAgents", 1)

    async def wait(self, caller: Principal) -> AbstractContextManager[None]:
        """Return what counts a wait in as long as it lasts, and raises on entry when there are so many already."""
        limits = [(account, quotas.max_waits) for account, quotas in await self._limits(caller)]
        return self._holding("maxWaits", limits)

    async def stream(self, caller: Principal) -> AbstractContextManager[None]:
        """Return the same for a stream of events."""
        limits = [(account, quotas.max_streams) for account, quotas in await self._limits(caller)]
        return self._holding("maxStreams", limits)

    @contextmanager
    def _holding(self, quota: str, limits: Sequence[tuple[Account, int | None]]) -> Generator[None, None, None]:
        for account, limit in limits:
            if limit is not None and self._held[account, quota] >= limit:
                raise QuotaExceededError(account, quota, limit, f"{limit} of these in a server", retry_after=1)
        held = Counter((account, quota) for account, _ in limits)
        self._held += held
        try:
            yield
        finally:
            self._held -= held

    async def _limits(self, caller: Principal) -> list[tuple[Account, Quotas]]:
        """Return what bounds a caller: first what its key may use, then what its space may."""
        of_key = (Account(caller.space, caller.id), caller.quotas)
        of_space = (Account(caller.space), await self._of(caller))
        return [(account, quotas) for account, quotas in (of_key, of_space) if quotas is not UNLIMITED]

    async def _of(self, caller: Principal) -> Quotas:
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

    async def _check_bytes(self, account: Account, size: int, limit: int | None) -> None:
        what = "{limit} bytes of documents"
        await self._check(account, "maxBytes", pieces.bytes_of, size, limit, what, BYTES_KEPT_SECONDS)

    async def _check(
        self,
        account: Account,
        quota: str,
        count: _Count,
        more: int,
        limit: int | None,
        what: str,
        kept: float = KEPT_SECONDS,
    ) -> None:
        if limit is None:
            return
        # One at a time: who comes next finds what was counted, and what was let in since.
        async with self._counting:
            at, used = self._counts.get((account, quota), (-math.inf, 0))
            # What seems to be full may have been emptied since.
            seconds = min(kept, KEPT_SECONDS) if used + more > limit else kept
            if self._clock() - at >= seconds:
                used = await count(self._ledger, account)
                self._counts[account, quota] = self._clock(), used
        if used + more > limit:
            raise QuotaExceededError(account, quota, limit, what.format(limit=limit))

    def _add(self, account: Account, quota: str, more: int) -> None:
        known = self._counts.get((account, quota))
        if known is not None:
            self._counts[account, quota] = known[0], known[1] + more

    def _take(self, account: Account, quota: str, count: int, per_minute: int | None) -> None:
        if per_minute is None:
            return
        now = self._clock()
        bucket = self._buckets.get((account, quota))
        if bucket is None or bucket.per_minute != per_minute:
            bucket = self._buckets[account, quota] = Bucket(per_minute, now)
        seconds = bucket.take(count, now)
        if seconds:
            raise QuotaExceededError(account, quota, per_minute, f"{per_minute} a minute", math.ceil(seconds))


def _too_many_revisions(account: Account, limit: int) -> QuotaExceededError:
    return QuotaExceededError(account, "maxRevisionsPerDocument", limit, f"{limit} revisions of a document")
