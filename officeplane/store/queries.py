"""Named SQL: one `.sql` file per noun, one query per `-- name: verb`, its values by name.

The name is followed by a sentence that says what no row means. Values are written
`:task_ids::uuid[]`, always with their type, and are numbered when the file is loaded;
a call gives each of them by its name. `{claimable}` and the like stand for sets of
states and are bound to the lifecycle table at the same time, so SQL and Python cannot
differ. `{answers}` are the kinds of failures that are nobody's business but the caller's,
`{task_columns}` and its like what the table of columns says (`task_columns.py`).

What several queries share is written once, as a `-- part: noun`, and put in by its
name in braces. Parts of the shared nouns may be put in everywhere, others in their file.
"""

import re
from collections.abc import Coroutine, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from officeplane.domain.failure import ANSWERS
from officeplane.domain.lifecycle import STATE_SETS
from officeplane.domain.priority import BOOST_PER_MINUTE
from officeplane.store import task_columns
from officeplane.store.connection import Executor, Row

_SECTION: Final = re.compile(r"^-- (name|part): (\w+)$", re.MULTILINE)
SHARED: Final = ("sights", "events", "ranks", "valves", "statistics", "claims", "pieces", "audit")
"""The nouns of which parts may be put in everywhere, in the order in which one puts in parts of another."""
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")
# What may hold a colon that is no value's is matched first, and left as it is. A value follows
# neither a colon, as a type does, nor what it could be the end of a slice of.
_VALUE: Final = re.compile(r"--[^\n]*|'[^']*'|\"[^\"]*\"|(?<![:\w\])]):([a-z_]\w*)")
_BOUND: Final = {
    **{
        name: "(" + ", ".join(f"'{member}'" for member in members) + ")"
        for name, members in {**STATE_SETS, "answers": sorted(ANSWERS)}.items()
    },
    "boost_per_minute": f"{BOOST_PER_MINUTE}::float8",
    **task_columns.PARTS,
}


class MisfitError(TypeError):
    """A query was given other values than it names."""


class Query:
    """A statement of a `.sql` file, and the names of its values in the order in which they are sent."""

    __slots__ = ("name", "names", "source", "text")

    def __init__(self, name: str, source: str) -> None:
        self.name = name
        self.source = source
        names: dict[str, int] = {}

        def numbered(match: re.Match[str]) -> str:
            return match[0] if match[1] is None else f"${names.setdefault(match[1], len(names) + 1)}"

        self.text = _VALUE.sub(numbered, source)
        self.names = tuple(names)

    def fetch(self, executor: Executor, /, **values: object) -> Coroutine[Any, Any, list[Row]]:
        """Run it with these values and return its rows."""
        return executor.fetch(self.text, *self.in_order(values))

    def in_order(self, values: Mapping[str, object]) -> list[object]:
        """Return values in the order in which they are sent; raise `MisfitError` unless they are those named."""
        try:
            given = [values[name] for name in self.names]
        except KeyError:
            raise self._misfit(values) from None
        if len(given) != len(values):
            raise self._misfit(values)
        return given

    def _misfit(self, values: Mapping[str, object]) -> MisfitError:
        missing = [f"{name} is missing" for name in self.names if name not in values]
        unknown = [f"it has no {name}" for name in values if name not in self.names]
        return MisfitError(
            f"the query {self.name} was given other values than it names: {', '.join(missing + unknown)}"
        )


@cache
def load(noun: str) -> dict[str, Query]:
    """Return the queries of one noun by name."""
    queries, _ = _parsed(noun, _everywhere())
    return {name: Query(f"{noun}.{name}", source) for name, source in queries.items()}


@cache
def _everywhere() -> dict[str, str]:
    known = _BOUND
    for noun in SHARED:
        _, parts = _parsed(noun, known)
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
