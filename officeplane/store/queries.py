"""Named SQL: one `.sql` file per noun, one attribute per query.

A query begins with `-- name: verb`, followed by a sentence that says what no
row means. `{claimable}` and the like stand for sets of states and are bound to
the lifecycle table when the file is loaded, so SQL and Python cannot differ.
`{answers}` are the kinds of failures that are nobody's business but the caller's.
What two queries of a file share is a `-- part: noun`, put in by its name; the
parts of `valves.sql` and `events.sql` may be put in everywhere.
"""

import re
from functools import cache
from importlib.resources import files
from typing import Final

from officeplane.domain.failure import ANSWERS
from officeplane.domain.lifecycle import STATE_SETS

_SECTION: Final = re.compile(r"^-- (name|part): (\w+)$", re.MULTILINE)
_SHARED: Final = ("valves", "events")
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
_SETS: Final = {
    name: "(" + ", ".join(f"'{member}'" for member in members) + ")"
    for name, members in {**STATE_SETS, "answers": sorted(ANSWERS)}.items()
}


@cache
def load(noun: str) -> dict[str, str]:
    """Return the queries of one noun by name."""
    queries, _ = _parsed(noun, _everywhere())
    return queries


@cache
def _everywhere() -> dict[str, str]:
    known = _SETS
    for noun in _SHARED:
        _, parts = _parsed(noun, _SETS)
        known = known | parts
    return known


def _parsed(noun: str, bound: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the queries and the parts of a file."""
    text = (files("officeplane.store") / "sql" / f"{noun}.sql").read_text(encoding="utf-8")
    _, *sections = _SECTION.split(text)
    queries: dict[str, str] = {}
    parts: dict[str, str] = {}
    for kind, name, body in zip(sections[::3], sections[1::3], sections[2::3], strict=True):
        (parts if kind == "part" else queries)[name] = _filled_in(body, bound | parts)
    return queries, parts


def _filled_in(body: str, known: dict[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: known[match[1]], body).strip()


def nouns() -> list[str]:
    """Return the nouns that have queries."""
    folder = files("officeplane.store") / "sql"
    return sorted(entry.name.removesuffix(".sql") for entry in folder.iterdir() if entry.name.endswith(".sql"))
