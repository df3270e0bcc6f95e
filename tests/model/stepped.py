"""The ledger, a transaction at a time: operations of the product stop where another process may come between.

An operation is carried out from its beginning each time. What its first transactions were answered
is known and said again, the next is carried out, and before the one after that the operation is
left, as if its process had just been put aside. So it can be gone on with from any state of the
ledger, whatever others have written meanwhile.
"""

import uuid
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, TypeAlias

import asyncpg

from officeplane.store.connection import Ledger, repeated, translated
from officeplane.store.queries import load

CONSTANT: Final = frozenset({("tasks", "owner"), ("trees", "ancestors")})
"""Queries of what never changes here: nobody needs to come between these and what follows."""

ASIDE: Final = CONSTANT | {
    ("agent_claims", "book"),
    ("agent_claims", "count_lapses"),
    ("agent_claims", "failed_at"),
    ("agent_claims", "look"),
    ("agent_claims", "seen"),
    ("agent_claims", "status"),
    ("claims", "lane_heads"),
    ("settlements", "count_fenced"),
}
"""Queries that belong to the step of what is before them; by the next step, what they told is old all the same."""


class LeftAlone(BaseException):
    """The operation has come to its next transaction, which is another step's."""


class Row:
    """A row that was told: of the shape of the driver's, which nobody else can make."""

    __slots__ = ("_columns",)

    def __init__(self, columns: dict[str, Any]) -> None:
        self._columns = columns

    def __getitem__(self, key: str | int) -> Any:
        return tuple(self._columns.values())[key] if isinstance(key, int) else self._columns[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._columns.values())

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return repr(self._columns)

    def get(self, key: str, default: Any = None) -> Any:
        return self._columns.get(key, default)

    def keys(self) -> Iterator[str]:
        return iter(self._columns)

    def values(self) -> Iterator[Any]:
        return iter(self._columns.values())

    def items(self) -> Iterator[tuple[str, Any]]:
        return iter(self._columns.items())


Turn: TypeAlias = tuple[Any, ...]
"""What the statements of one transaction were answered."""


class SteppedLedger(Ledger):
    """A ledger on one connection, within a transaction that is never committed."""

    def __init__(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        self._real = connection
        self._known: Sequence[Turn] = ()
        self._taken = 0
        self._is_careful = self._is_whole = self._has_begun = False
        self.turns: list[list[Any]] = []
        """What the transactions of this step were answered."""
        self.was_undone = False
        """Whether a transaction of this step was to be rolled back."""
        self._aside = {load(noun)[query].text for noun, query in ASIDE}
        self._constant = {load(noun)[query].text for noun, query in CONSTANT}

    def begin(self, known: Sequence[Turn], *, whole: bool, careful: bool) -> None:
        """Let the next operation begin, of which these transactions were carried out before.

        One that is whole is not left before its end. Only when it is careful, which takes twice as long, is a
        transaction rolled back that fails.
        """
        self._known, self._taken, self.turns = known, 0, []
        self._is_careful, self._is_whole = careful, whole
        self._has_begun = self.was_undone = False

    async def fetch(self, query: str, *args: object) -> list[Any]:
        """Run one statement in a transaction of its own and return its rows."""

        async def once() -> list[Any]:
            with translated():
                async with self._turn(query) as connection, connection.transaction():
                    rows: list[Any] = await connection.fetch(query, *args)
                    return rows

        return await repeated(once)

    def _connection(self) -> Any:
        return self._turn("")

    @asynccontextmanager
    async def _turn(self, query: str) -> AsyncGenerator[Any, None]:
        if self._taken < len(self._known):
            self._taken += 1
            yield _Told(self._known[self._taken - 1])
            return
        if self._has_begun and not self._is_whole and query not in self._aside:
            raise LeftAlone
        self._has_begun = self._has_begun or query not in self._constant
        self.turns.append([])
        yield _Heard(self._real, self.turns[-1], self._transaction)

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[None, None]:
        try:
            if self._is_careful:
                async with self._real.transaction():
                    yield
            else:
                yield
        except Exception:
            self.was_undone = True
            raise


class _Told:
    """A transaction that was carried out before: it is answered what it was answered then."""

    def __init__(self, answers: Turn) -> None:
        self._answers = iter(answers)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[None, None]:
        yield

    async def fetch(self, _query: str, *_args: object) -> Any:
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return list(each(answer)) if isinstance(answer, tuple) else answer

    fetchval = fetchrow = execute = fetch


class _Heard:
    """The transaction of this step; what it is answered is kept."""

    def __init__(
        self,
        connection: "asyncpg.Connection[asyncpg.Record]",
        answers: list[Any],
        transaction: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self._connection = connection
        self._answers = answers
        self.transaction = transaction

    async def fetch(self, query: str, *args: object) -> list[Row]:
        rows = await self._kept(self._connection.fetch(query, *args))
        return list(rows)

    async def fetchrow(self, query: str, *args: object) -> Row | None:
        row: Row | None = await self._kept(self._connection.fetchrow(query, *args))
        return row

    async def fetchval(self, query: str, *args: object) -> Any:
        return await self._kept(self._connection.fetchval(query, *args))

    async def execute(self, query: str, *args: object) -> str:
        said: str = await self._kept(self._connection.execute(query, *args))
        return said

    async def _kept(self, answer: Any) -> Any:
        try:
            kept = _as_told(await answer)
        except Exception as error:
            self._answers.append(error)
            raise
        self._answers.append(kept)
        return kept


def _as_told(answer: Any) -> Any:
    if isinstance(answer, asyncpg.Record):
        return Row({name: _plain(value) for name, value in answer.items()})
    return tuple(map(_as_told, each(answer))) if isinstance(answer, list) else answer


def _plain(value: Any) -> Any:
    """Return a driver's value as one that compares and copies as others do."""
    if isinstance(value, uuid.UUID):
        return uuid.UUID(str(value))
    return list(map(_plain, each(value))) if isinstance(value, list) else value


def each(many: Any) -> Iterable[Any]:
    """Return what is in a list or a tuple of anything."""
    inside: Iterable[Any] = many
    return inside
