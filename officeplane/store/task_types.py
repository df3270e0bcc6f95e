"""Task types in the ledger: those that are declared rather than found in the code."""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from officeplane.domain.declared_type import DeclaredType, TypeDefaults
from officeplane.store.connection import Executor, Row
from officeplane.store.queries import load

_SQL: Final = load("task_types")


class Declared(NamedTuple):
    """All that was declared, as of a version of the table."""

    version: int
    types: tuple[DeclaredType, ...]


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


async def changed(executor: Executor, version: int) -> Declared | None:
    """Return what is declared, if that is no longer the version that is known; None when it is."""
    rows = await _SQL["changed"].fetch(executor, known=version)
    if not rows:
        return None
    return Declared(rows[0]["version"], tuple(_declared(row) for row in rows if row["name"] is not None))


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
