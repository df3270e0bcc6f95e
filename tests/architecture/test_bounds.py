"""Whatever comes from outside has a bound, and docs/security.md says which."""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

import officeplane
import workers
from officeplane.cli.connections import USUAL, WireLimits
from officeplane.config import Settings
from officeplane.server import create_app

PAGE: Final = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
ROW: Final = re.compile(r"^\| (.+) \| (.+) \| (.+) \| `([\w/]+)\.py: (\S+)` \|$", re.MULTILINE)
UNITS: Final = {
    "": 1,
    "s": 1,
    "day": 86_400,
    "days": 86_400,
    "MB": 1_000_000,
    "KiB": 1024,
    "MiB": 1024 * 1024,
}
# Of one format and of no concern outside of it, or of what only whoever operates it asks for.
OF_THEIR_OWN: Final = (
    *("officeplane.bench.", "officeplane.embedded.", "officeplane.cli."),
    *("officeplane.formats.word.", "officeplane.formats.excel.", "officeplane.formats.powerpoint."),
)
# A number that nothing comes to: what `boostPerMinute` and a deadline add to urgency.
NO_BOUNDS: Final = {"domain/priority: DEADLINE_URGENCY_MAX"}


class Row(NamedTuple):
    """One bound as the page has it."""

    what: str
    default: str
    setting: str
    module: str
    name: str

    @property
    def place(self) -> str:
        return f"{self.module}: {self.name}"


ROWS: Final = [Row(*found) for found in ROW.findall(PAGE)]


@pytest.mark.parametrize("row", ROWS, ids=[row.place for row in ROWS])
def test_a_bound_is_what_the_page_says(row: Row) -> None:
    number, _, unit = row.default.partition(" ")

    assert float(number.replace(",", "")) * UNITS[unit] == value_of(row)
    if row.setting == "–":
        assert not row.name.startswith("Settings.")
    else:
        assert row.setting == f"`OFFICEPLANE_{row.name.removeprefix('Settings.').upper()}`"


def test_every_row_of_the_tables_is_compared() -> None:
    # Of each table there is a head besides.
    tables = PAGE.split("## Bounds")[1].split("## What logs hold")[0]
    heads = tables.count("| what | default | setting | where |")

    assert len(ROWS) == len(re.findall(r"^\| ", tables, re.MULTILINE)) - heads
    assert len({row.place for row in ROWS}) == len(ROWS)


def test_every_bound_of_the_code_is_on_the_page() -> None:
    named = {row.place for row in ROWS} | NO_BOUNDS
    limits = {f"cli/connections: WireLimits.{name}" for name in WireLimits.__slots__}

    assert limits <= named
    assert set(maxima()) <= named


def test_every_field_and_parameter_has_a_bound() -> None:
    api = create_app(Settings()).openapi()
    schemas = api["components"]["schemas"]

    found = {place for path, part in parts(api) for place in unbounded(part, path, schemas)}

    # A payload is bounded by its body, a file and a probe of an `ETag` by their requests; schemas are measured when
    # they have been read; and of cursors and of ids only what has their exact form is looked for. Of what an agent
    # tells that may be anything, the size is bounded.
    told = r"/claims/.*\.(result|value|checkpoint)|heartbeat.*\.progress"
    ids = r"path (task_id|dag_id|key_id)"
    reasons = re.compile(rf".*(\.payload|Schema|cursor|If-None-Match|Last-Event-ID|{told}|{ids})")
    assert {place for place in found if not reasons.fullmatch(place)} == set()


def value_of(row: Row) -> object:
    path = row.module.replace("/", ".")
    module = importlib.import_module(path if path.startswith("workers.") else f"officeplane.{path}")
    match row.name.split("."):
        case ["WireLimits", name]:
            return getattr(USUAL, name)
        case ["Settings", name]:
            return Settings.model_fields[name].default
        case [name]:
            return getattr(module, name)
        case [owner, name]:
            return getattr(getattr(module, owner), name)
        case _:
            raise AssertionError(row.name)


def maxima() -> Iterator[str]:
    packages = (
        *pkgutil.walk_packages(officeplane.__path__, "officeplane."),
        *pkgutil.walk_packages(workers.__path__, "workers."),
    )
    for found in packages:
        if not f"{found.name}.".startswith(OF_THEIR_OWN) and not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            for name in re.findall(r"^([A-Z]\w*_MAX)\b", inspect.getsource(module), re.MULTILINE):
                yield f"{found.name.removeprefix('officeplane.').replace('.', '/')}: {name}"


def parts(api: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield everything that a request may have, with where it stands."""
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", ()):
                yield f"{method} {path} {parameter['in']} {parameter['name']}", parameter["schema"]
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                if "json" in kind:
                    yield f"{method} {path}", content["schema"]


def unbounded(schema: dict[str, Any], path: str, schemas: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[str]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in above:
            yield from unbounded(schemas[name], path, schemas, (*above, name))
        return
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
        yield from unbounded(choice, path, schemas, above)
    match schema.get("type"):
        case "string" if not {"maxLength", "enum", "const", "format"} & schema.keys() and not ends(schema):
            yield path
        case "integer" | "number" if not schema.keys() & {"maximum", "exclusiveMaximum", "const"}:
            yield path
        case "array":
            if "maxItems" not in schema:
                yield path
            yield from unbounded(schema["items"], f"{path}[]", schemas, above)
        case "object":
            if schema.get("additionalProperties"):
                yield path
            for name, inner in schema.get("properties", {}).items():
                yield from unbounded(inner, f"{path}.{name}", schemas, above)
        case _:
            pass


def ends(schema: dict[str, Any]) -> bool:
    """Tell whether a text that fits has an end, by its pattern."""
    pattern = str(schema.get("pattern", ""))
    plain = re.sub(r"\[[^\]]*\]", "", re.sub(r"\\.", "", pattern))
    return pattern.startswith("^") and pattern.endswith("$") and not {"*", "+"} & set(plain)
