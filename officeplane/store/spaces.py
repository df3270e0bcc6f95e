"""Spaces in the ledger: which there are, what they may use and what they use."""

from collections.abc import Collection, Sequence
from typing import Final

from officeplane.domain.quota import NAMES, Account, Quotas, usual
from officeplane.domain.space import Space
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("spaces")


async def every(executor: Executor) -> dict[Space, Quotas]:
    """Return all spaces with their quotas, the default space first."""
    rows = await _SQL["all"].fetch(executor)
    return {(space := Space(row["name"])): _quotas(row) if row["is_set"] else usual(space) for row in rows}


async def quotas(executor: Executor, space: Space) -> Quotas:
    """Return the quotas of a space; one that is not there has the usual ones."""
    rows = await _SQL["quotas"].fetch(executor, space=space)
    return _quotas(rows[0]) if rows else usual(space)


async def lock(executor: Executor, space: Space) -> Quotas:
    """Return the quotas of a space; those that somebody has said, nobody else changes until the transaction ends."""
    rows = await _SQL["lock"].fetch(executor, space=space)
    return _quotas(rows[0]) if rows else usual(space)


async def set_quotas(executor: Executor, space: Space, wanted: Quotas) -> bool:
    """Say what a space may use; False when there is no such space."""
    rows = await _SQL["set"].fetch(
        executor,
        space=space,
        max_waiting_tasks=wanted.max_waiting_tasks,
        max_documents=wanted.max_documents,
        max_bytes=wanted.max_bytes,
        max_revisions_per_document=wanted.max_revisions_per_document,
        submissions_per_minute=wanted.submissions_per_minute,
        uploads_per_minute=wanted.uploads_per_minute,
        max_streams=wanted.max_streams,
        max_waits=wanted.max_waits,
        max_agents=wanted.max_agents,
    )
    return bool(rows)


async def waiting_tasks(executor: Executor, account: Account) -> int:
    """Return how many tasks of a space wait, or how many of those that one caller has submitted."""
    if account.caller is None:
        return _count(await _SQL["waiting_tasks"].fetch(executor, space=account.space))
    return _count(await _SQL["waiting_tasks_of_caller"].fetch(executor, space=account.space, caller=account.caller))


async def documents(executor: Executor, account: Account) -> int:
    """Return how many documents a space has, or how many of those that one caller has made."""
    if account.caller is None:
        return _count(await _SQL["documents"].fetch(executor, space=account.space))
    return _count(await _SQL["documents_of_caller"].fetch(executor, space=account.space, caller=account.caller))


async def revisions_of_fullest(executor: Executor, document_ids: Collection[str]) -> int:
    """Return how many revisions the one of these documents has that has most."""
    (row,) = await _SQL["fullest"].fetch(executor, document_ids=list(document_ids))
    return int(row["count"] or 0)


def _count(rows: Sequence[Row]) -> int:
    return int(rows[0]["count"])


def _quotas(row: Row) -> Quotas:
    return Quotas(**{name: row[name] for name in NAMES})
