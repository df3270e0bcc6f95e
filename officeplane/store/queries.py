"""Named SQL: one `.sql` file per noun, one attribute per query.

A query begins with `-- name: verb`, followed by a sentence that says what no
row means. `{claimable}` and the like stand for sets of states and are bound to
the lifecycle table when the file is loaded, so SQL and Python cannot differ.
What two queries of a file share is a `-- part: noun`, put in by its name.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Final

from officeplane.domain.lifecycle import STATE_SETS

_SECTION: Final = re.compile(r"^-- (name|part): (\w+)$", re.MULTILINE)
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_STATES: Final = {name: "(" + ", ".join(f"'{state}'" for state in states) + ")" for name, states in STATE_SETS.items()}


def _parse(text: str) -> dict[str, str]:
    _, *sections = _SECTION.split(text)
    bound = dict(_STATES)
    queries: dict[str, str] = {}
    for kind, name, body in zip(sections[::3], sections[1::3], sections[2::3], strict=True):
        sql = _PLACEHOLDER.sub(lambda match: bound[match[1]], body).strip()
        if kind == "part":
            bound[name] = sql
        else:
            queries[name] = sql
    return queries


@cache
def load(noun: str) -> dict[str, str]:
    """Return the queries of one noun by name."""
    return _parse((files("officeplane.store") / "sql" / f"{noun}.sql").read_text(encoding="utf-8"))


def nouns() -> list[str]:
    """Return the nouns that have queries."""
    folder = files("officeplane.store") / "sql"
    return sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql"))
