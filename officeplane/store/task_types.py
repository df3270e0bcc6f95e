"""Task types in the ledger: those that are declared rather than found in the code."""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from officeplane.domain.declared_type import DeclaredType, TypeDefaults
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("task_types")


class Declared(NamedTuple):
    """All that was declared, as of a version of the table; and what of it only a later version understands."""

    version: int
    types: tuple[DeclaredType, ...]
    not_understood: tuple[str, ...] = ()


async def lock(executor: Executor) -> int:
    """Let nobody else change what is declared until the transaction ends; return how many types are."""
    await _SQL["lock"].fetch(executor)
    # In a statement of its own: the one that waited sees what was there before.
    (row,) = await _SQL["count"].fetch(executor)
    found: int = row["n"]
    return found


async def facts(executor: Executor, name: str) -> dict[str, object] | None:
    """Return what a type was declared as, in short; None if it was not."""
    rows = await _SQL["facts"].fetch(executor, name=name)
    return {**json.loads(rows[0]["facts"])} if rows else None


async def declare(executor: Executor, declared: DeclaredType) -> None:
    """Declare a type, or declare it anew."""
    await _SQL["declare"].fetch(
        executor,
        name=declared.name,
        title=declared.title,
        payload_schema=_json(declared.payload_schema),
        result_schema=_json(declared.result_schema),
        defaults=declared.defaults.model_dump_json(by_alias=True, exclude_none=True),
    )


async def is_in_use(executor: Executor, name: str) -> bool:
    """Tell whether an agent's task of a type is unfinished."""
    return bool(await _SQL["unfinished"].fetch(executor, name=name))


async def remove(executor: Executor, name: str) -> None:
    """Have a type be declared no longer."""
    await _SQL["remove"].fetch(executor, name=name)


async def changed(executor: Executor, version: int) -> Declared | None:
    """Return what is declared, if that is no longer the version that is known; None when it is."""
    rows = await _SQL["changed"].fetch(executor, known=version)
    if not rows:
        return None
    types: list[DeclaredType] = []
    not_understood: list[str] = []
    for row in rows:
        if row["name"] is None:
            continue
        try:
            types.append(_declared(row))
        except ValidationError:
            not_understood.append(row["name"])
    return Declared(rows[0]["version"], tuple(types), tuple(not_understood))


def _declared(row: Row) -> DeclaredType:
    return DeclaredType(
        name=row["name"],
        title=row["title"],
        payload_schema=None if row["payload_schema"] is None else json.loads(row["payload_schema"]),
        result_schema=None if row["result_schema"] is None else json.loads(row["result_schema"]),
        defaults=TypeDefaults.model_validate_json(row["defaults"]),
    )


def _json(schema: Mapping[str, Any] | None) -> str | None:
    return None if schema is None else json.dumps(schema)
