"""What is in a document, from a terminal: `officeplane documents outline`, `text`, `find`, `cells` and the like."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from officeplane.cli.client import Client, document_path
from officeplane.cli.console import remarks, show, write_json
from officeplane.cli.texts import one_line, printable

Given = Mapping[str, str | int | None]
_PAGE_TOKENS: Final = 200_000
"""People read to the end: few answers are fetched, each large."""


async def show_outline(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print the nodes of a document, those within another further to the right."""
    for answer in await _shown(url, document_path(document_id, "/outline"), given, as_json=as_json):
        for line in _outlined(answer["nodes"], 0):
            show(printable(line))


async def show_text(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print what a document says."""
    answers = await _shown(url, document_path(document_id, "/text"), given, as_json=as_json)
    if answers:
        for line in "".join(answer["text"] for answer in answers).split("\n"):
            show(printable(line))


async def find_text(url: str, document_id: str, given: Given, *, as_json: bool) -> bool:
    """Print where a text stands, and tell whether it does."""
    found = False
    for answer in await _read(url, document_path(document_id, "/find"), given, as_json=as_json):
        found = found or bool(answer["items"])
        for item in () if as_json else answer["items"]:
            show(printable(f"{item['id']}  {item['kind']}  {one_line(item['text'])}"))
    if not found and not as_json:
        remarks().print("It does not stand there.")
    return found


async def show_node(url: str, document_id: str, node_id: str, given: Given, *, as_json: bool) -> None:
    """Print what a node says, as CommonMark, below what it is."""
    path = document_path(document_id, f"/nodes/{quote(node_id, safe='')}")
    answers = await _shown(url, path, given, as_json=as_json)
    if not answers:
        return
    node = answers[0]["node"]
    for line in _about(node):
        remarks().print(printable(line))
    for line in "".join(answer["node"].get("content", "") for answer in answers).split("\n"):
        show(printable(line))


async def show_cells(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print what cells hold, one by line: the address, the value, the formula."""
    for answer in await _shown(url, document_path(document_id, "/cells"), given, as_json=as_json):
        for item in answer["items"]:
            formula = f"  {item['formula']}" if "formula" in item else ""
            stale = "  [stale]" if item.get("stale") else ""
            show(printable(f"{item['cell']}  {one_line(_value(item.get('value')))}{formula}{stale}"))


async def list_changes(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print tracked changes, with who made them and when."""
    listed = False
    for answer in await _shown(url, document_path(document_id, "/changes"), given, as_json=as_json):
        for item in answer["items"]:
            listed = True
            said = (item["id"], item.get("change"), item.get("author"), item.get("at"))
            facts = "  ".join(str(one) for one in said if one)
            show(printable(f"{facts}  {one_line(item.get('text', ''))}".rstrip()))
    if not listed and not as_json:
        remarks().print("There are no changes.")


async def list_comments(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print comments with what each is about, who wrote it and when, what it says, and its answers further right."""
    listed = False
    for answer in await _shown(url, document_path(document_id, "/comments"), given, as_json=as_json):
        for item in answer["items"]:
            listed = True
            for line in _remark(item):
                show(printable(line))
    if not listed and not as_json:
        remarks().print("There are no comments.")


async def list_images(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print the pictures of a document, with how large they are and what they show."""
    for answer in await _shown(url, document_path(document_id, "/images"), given, as_json=as_json):
        for item in answer["items"]:
            size = f"{item['width']:g} x {item['height']:g}  " if "width" in item and "height" in item else ""
            show(printable(f"{item['id']}  {size}{one_line(item.get('name', ''))}".rstrip()))


async def _shown(url: str, path: str, given: Given, *, as_json: bool) -> Sequence[dict[str, Any]]:
    """Return what is to be shown to people: nothing, when JSON was asked for and is printed."""
    answers = await _read(url, path, given, as_json=as_json)
    return () if as_json else answers


async def _read(url: str, path: str, given: Given, *, as_json: bool) -> Sequence[dict[str, Any]]:
    """Return all parts of what is asked for; as JSON only the first, which is printed and says where to go on."""
    query: dict[str, str | int] = {name: value for name, value in given.items() if value is not None}
    answers: list[dict[str, Any]] = []
    async with Client(url) as client:
        while True:
            answer = await client.get(path, query if as_json else {"maxTokens": _PAGE_TOKENS, **query})
            answers.append(json.loads(answer.content))
            following = answers[-1]["next"]
            if as_json:
                write_json(answer.text)
            if as_json or following is None:
                return answers
            query["cursor"] = following


def _outlined(nodes: Sequence[Mapping[str, Any]], depth: int) -> Iterator[str]:
    for node in nodes:
        title = one_line(" ".join(filter(None, (node.get("number"), node.get("text")))))
        words = f"{node['words']} words" if "words" in node else ""
        marks = ", ".join(f"{count} {mark}" for mark, count in node.get("marks", {}).items())
        more = ", ".join(filter(None, (words, marks)))
        yield "  " * depth + "  ".join(filter(None, (node["id"], title, f"({more})" if more else "")))
        yield from _outlined(node.get("children", ()), depth + 1)


def _remark(item: Mapping[str, Any]) -> Iterator[str]:
    is_answer = "inReplyTo" in item
    margin = "    " if is_answer else ""
    facts = [item["id"], item.get("author"), item.get("at")]
    if not is_answer:
        parent = item.get("shape") or item.get("parent") or ""
        place = f"{parent}!{item['cell']}" if "cell" in item else parent
        words = f" {json.dumps(one_line(item['about'], 60), ensure_ascii=False)}" if "about" in item else ""
        facts = [item["id"], item.get("state"), *facts[1:], f"on {place}{words}" if place else None]
    yield margin + "  ".join(str(one) for one in facts if one)
    for line in item.get("text", "").strip("\n").split("\n"):
        yield f"{margin}    {line}".rstrip()


def _about(node: Mapping[str, Any]) -> Iterator[str]:
    said = [node["kind"], node.get("number"), node.get("name")]
    yield f"{node['id']}  {'  '.join(str(one) for one in said if one)}"
    for name in ("parent", "previous", "following"):
        if name in node:
            yield f"{name}: {node[name]['id']}  {one_line(node[name].get('text', ''))}".rstrip()
    for name in ("facts", "format"):
        for what, value in node.get(name, {}).items():
            yield f"{what}: {one_line(_value(value))}"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
