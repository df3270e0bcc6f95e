"""Differences for people: what came in green, what went in red, wherever colours are shown."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rich.text import Text

from officeplane.cli.answers import Difference
from officeplane.cli.client import Client, document_path
from officeplane.cli.console import show, write_json
from officeplane.cli.exits import UsageError
from officeplane.cli.texts import one_line, printable

FORMATS: Final = ("summary", "nodes", "unified")
_OF_LINES: Final = {"@@": "cyan", "+++": "bold", "---": "bold", "+": "green", "-": "red"}
_OF_NODES: Final = {"added": "green", "removed": "red", "changed": "yellow", "moved": "cyan"}
_TOKENS: Final = 200_000
"""People read to the end: few answers are fetched, each large."""


async def show_difference(
    url: str, document_id: str, before: int, after: int, format: str | None, *, as_json: bool
) -> None:
    """Print what changed between two revisions; in no format both the nodes and all lines."""
    if format not in (None, *FORMATS):
        raise UsageError(f"--format is one of {', '.join(FORMATS)}.")
    path, query = document_path(document_id, "/diff"), {"from": before, "to": after}
    async with Client(url) as client:
        if format is None or as_json:
            answer = await client.get(path, query if format is None else {**query, "format": format})
            if as_json:
                write_json(answer.text)
            else:
                print_difference(Difference.model_validate_json(answer.content))
            return
        asked: dict[str, str | int] = {**query, "format": format, "maxTokens": _TOKENS}
        while True:
            part = json.loads((await client.get(path, asked)).content)
            _print_part(part)
            if part["next"] is None:
                return
            asked["cursor"] = part["next"]


def print_difference(difference: Difference) -> None:
    """Print nodes by what happened to them, then lines of text."""
    for happened, nodes in difference.nodes.items():
        for node in nodes:
            said = printable(f"{happened:8} {node.kind} {node.id}  {one_line(node.text)}")
            show(Text(said, style=_OF_NODES.get(happened, "")))
    _print_lines(difference.text)


def _print_part(part: Mapping[str, Any]) -> None:
    if "added" in part:
        show(f"{part['added']} added, {part['removed']} removed, {part['changed']} changed")
    for change in part.get("examples", part.get("items", ())):
        happened = change["change"]
        show(Text(printable(f"{happened:8} {change['kind']} {change['id']}"), style=_OF_NODES.get(happened, "")))
        for sign, said, style in (("-", change.get("was"), "red"), ("+", change.get("now"), "green")):
            if said:
                show(Text(f"  {sign} {one_line(said)}", style=style))
    _print_lines(part.get("text", ()))


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        style = next((style for start, style in _OF_LINES.items() if line.startswith(start)), "")
        show(Text(printable(line), style=style))
