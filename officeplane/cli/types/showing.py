"""Task types for people: all of them a line each, or one with its fields, ready to be typed."""

import json
import shlex
from collections.abc import Iterator

from pydantic import JsonValue
from rich.padding import Padding
from rich.text import Text

from officeplane.cli.answers import TASK_TYPES, TaskType
from officeplane.cli.client import Client
from officeplane.cli.console import out, show, write_json
from officeplane.cli.exits import RefusedError
from officeplane.cli.tables import Row, lay_out
from officeplane.cli.texts import compact, printable
from officeplane.cli.types.fields import Field, example_of, fields_of

_PATH = "/api/task-types"


async def list_types(url: str, *, as_json: bool) -> None:
    """Print all types, by name."""
    async with Client(url) as client:
        answer = await client.get(_PATH)
    if as_json:
        write_json(answer.text)
        return
    rows: list[Row] = [
        {"type": found.name, "documents": ", ".join(found.formats), "what it does": printable(found.title)}
        for found in TASK_TYPES.validate_json(answer.content)
    ]
    show(lay_out(rows, out().width, expendable=("what it does",)))


async def show_type(url: str, name: str, *, as_json: bool) -> None:
    """Print the fields of a type, and an example of how it is asked for."""
    async with Client(url) as client:
        found = await type_named(client, name)
    if found is None:
        raise RefusedError(f"There is no task type {name!r}.", "`officeplane types` lists those there are.")
    if as_json:
        write_json(found.model_dump_json(by_alias=True))
        return
    formats = f" ({', '.join(found.formats)})" if found.formats else ""
    show(printable(f"{found.name}: {found.title}{formats}"))
    for field in fields_of(found):
        show("")
        show("  ".join(_about(field)))
        show(Padding(Text(printable(field.description)), (0, 0, 0, 4)))
    example = example_of(found)
    if example is not None:
        show("")
        show(_command(found, example))


async def type_named(client: Client, name: str) -> TaskType | None:
    """Return a type by its name; None if the installation knows none of that name."""
    types = TASK_TYPES.validate_json((await client.get(_PATH)).content)
    return next((found for found in types if found.name == name), None)


def _about(field: Field) -> Iterator[str]:
    yield printable(field.name)
    yield " or ".join(field.kinds)
    if field.is_required:
        yield "required"
    elif field.default is not None:
        yield f"else {compact(field.default)}"


def _command(found: TaskType, example: JsonValue) -> str:
    payload = shlex.quote(json.dumps(example, ensure_ascii=False))
    if found.formats:
        return f"officeplane documents edit DOCUMENT_ID {found.name} --payload {payload}"
    return f"officeplane tasks submit {found.name} --payload {payload}"
