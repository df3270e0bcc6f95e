"""The audit in the ledger: added to, read page by page, and pruned."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, TypedDict

from officeplane.domain.audit import Audited, AuditFilter, Deed, Facts
from officeplane.domain.ids import KeyId, TaskId, parse_task_id, time_of
from officeplane.domain.principal import Kind
from officeplane.domain.space import Space
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("audit")
STORED_WITHIN: Final = timedelta(minutes=5)
"""By how much the time in a task's id may differ from the ledger's when the task was stored: clocks differ."""


class DeedValues(TypedDict):
    """What is kept of deeds, column by column."""

    audit_spaces: Sequence[str]
    audit_callers: Sequence[str]
    audit_kinds: Sequence[str]
    audit_on_behalf_of: Sequence[str | None]
    audit_key_ids: Sequence[KeyId | None]
    audit_addresses: Sequence[str | None]
    audit_actions: Sequence[str]
    audit_targets: Sequence[str | None]
    audit_task_ids: Sequence[str | None]
    audit_before: Sequence[str | None]
    audit_after: Sequence[str | None]


def deed_values(deeds: Sequence[Deed]) -> DeedValues:
    """Return what a statement keeps of deeds, which leaves out what the installation does by itself."""
    kept = [deed for deed in deeds if deed.caller.kind is not Kind.SYSTEM]
    return {
        "audit_spaces": [deed.caller.space for deed in kept],
        "audit_callers": [deed.caller.id for deed in kept],
        "audit_kinds": [deed.caller.kind for deed in kept],
        "audit_on_behalf_of": [deed.on_behalf_of or deed.caller.on_behalf_of for deed in kept],
        "audit_key_ids": [deed.caller.key_id for deed in kept],
        "audit_addresses": [deed.caller.address for deed in kept],
        "audit_actions": [deed.action for deed in kept],
        "audit_targets": [deed.target for deed in kept],
        "audit_task_ids": ["{" + ",".join(deed.task_ids) + "}" if deed.task_ids else None for deed in kept],
        "audit_before": [_json(deed.before) for deed in kept],
        "audit_after": [_json(deed.after) for deed in kept],
    }


async def write(executor: Executor, deed: Deed) -> None:
    """Keep a deed, in the transaction that does it."""
    if deed.caller.kind is not Kind.SYSTEM:
        await _SQL["write"].fetch(executor, **deed_values([deed]))


async def page(executor: Executor, space: Space, wanted: AuditFilter, *, before: int, limit: int) -> list[Audited]:
    """Return the latest deeds in a space that fit, below a sequence number."""
    if wanted.target is None:
        rows = await _SQL["page"].fetch(
            executor,
            space=space,
            caller=wanted.caller,
            action=wanted.action,
            since=wanted.since,
            until=wanted.until,
            before=before,
            limit=limit,
        )
    else:
        task_id = parse_task_id(wanted.target)
        made_at = None if task_id is None else time_of(task_id)
        rows = await _SQL["page_of_target"].fetch(
            executor,
            space=space,
            caller=wanted.caller,
            action=wanted.action,
            target=wanted.target,
            task_id=task_id,
            earliest=None if made_at is None else made_at - STORED_WITHIN,
            latest=None if made_at is None else made_at + STORED_WITHIN,
            since=wanted.since,
            until=wanted.until,
            before=before,
            limit=limit,
        )
    return [_audited(row) for row in rows]


def _audited(row: Row) -> Audited:
    key_id = row["key_id"]
    return Audited(
        row["seq"],
        row["at"],
        Space(row["space"]),
        row["caller"],
        row["kind"],
        row["on_behalf_of"],
        None if key_id is None else KeyId(str(key_id)),
        row["address"],
        row["action"],
        row["target"],
        tuple(TaskId(str(one)) for one in row["task_ids"] or ()),
        row["tasks"],
        None if row["before"] is None else json.loads(row["before"]),
        None if row["after"] is None else json.loads(row["after"]),
    )


def _json(facts: Facts | None) -> str | None:
    return None if facts is None else json.dumps(facts, default=_time_text)


def _time_text(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    message = f"a fact cannot be a {type(value).__name__}"
    raise TypeError(message)
