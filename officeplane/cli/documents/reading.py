"""What is in a document, from a terminal: `officeplane documents outline`, `text`, `find`, `cells` and the like."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from officeplane.cli.client import Client, document_path
from officeplane.cli.console import remarks, show, write_json
from officeplane.cli.documents.short_nodes import Naming, ShownNodes
from officeplane.cli.texts import one_line, printable

Given = Mapping[str, str | int | None]
Item = Mapping[str, Any]
_PAGE_TOKENS: Final = 200_000
"""People read to the end: few answers are fetched, each large."""


async def show_outline(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print the nodes of a document, those within another further to the right."""
    answers = await _shown(url, document_id, "/outline", given, as_json=as_json)
    ShownNodes(url, document_id).show(
        lambda name: (line for answer in answers for line in _outlined(answer["nodes"], 0, name))
    )


async def show_text(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print what a document says."""
    answers = await _shown(url, document_id, "/text", given, as_json=as_json)
    if answers:
        for line in "".join(answer["text"] for answer in answers).split("\n"):
            show(printable(line))


async def find_text(url: str, document_id: str, given: Given, *, as_json: bool) -> bool:
    """Print where a text stands, and tell whether it does."""
    items = [
        item for answer in await _read(url, document_id, "/find", given, as_json=as_json) for item in answer["items"]
    ]
    if as_json:
        return bool(items)
    ShownNodes(url, document_id).show(
        lambda name: (f"{name(item['id'])}  {item['kind']}  {one_line(item['text'])}" for item in items)
    )
    if not items:
        remarks().print("It does not stand there.")
    return bool(items)


async def show_node(url: str, document_id: str, node_id: str, given: Given, *, as_json: bool) -> None:
    """Print what a node says, as CommonMark, below what it is."""
    node_id = ShownNodes(url, document_id).whole(node_id)
    answers = await _shown(url, document_id, f"/nodes/{quote(node_id, safe='')}", given, as_json=as_json)
    if not answers:
        return
    node = answers[0]["node"]
    for line in _about(node):
        remarks().print(printable(line))
    for line in "".join(answer["node"].get("content", "") for answer in answers).split("\n"):
        show(printable(line))


async def show_cells(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print what cells hold, one by line: the address, the value, the formula."""
    for answer in await _shown(url, document_id, "/cells", given, as_json=as_json):
        for item in answer["items"]:
            formula = f"  {item['formula']}" if "formula" in item else ""
            stale = "  [stale]" if item.get("stale") else ""
            show(printable(f"{item['cell']}  {one_line(_value(item.get('value')))}{formula}{stale}"))


async def list_changes(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print tracked changes, with who made them and when."""
    if not await _list(url, document_id, "/changes", given, _change, as_json=as_json):
        remarks().print("There are no changes.")


async def list_comments(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print comments with what each is about, who wrote it and when, what it says, and its answers further right."""
    if not await _list(url, document_id, "/comments", given, _remark, as_json=as_json):
        remarks().print("There are no comments.")


async def list_images(url: str, document_id: str, given: Given, *, as_json: bool) -> None:
    """Print the pictures of a document, with how large they are and what they show."""
    await _list(url, document_id, "/images", given, _picture, as_json=as_json)


async def _list(
    url: str,
    document_id: str,
    what: str,
    given: Given,
    lines: Callable[[Item, Naming], Iterator[str]],
    *,
    as_json: bool,
) -> bool:
    """Print some lines for each of what is listed; False when people are shown none."""
    items = [
        item for answer in await _shown(url, document_id, what, given, as_json=as_json) for item in answer["items"]
    ]
    ShownNodes(url, document_id).show(lambda name: (line for item in items for line in lines(item, name)))
    return as_json or bool(items)


async def _shown(url: str, document_id: str, what: str, given: Given, *, as_json: bool) -> Sequence[dict[str, Any]]:
    """Return what is to be shown to people: nothing, when JSON was asked for and is printed."""
    answers = await _read(url, document_id, what, given, as_json=as_json)
    return () if as_json else answers


async def _read(url: str, document_id: str, what: str, given: Given, *, as_json: bool) -> Sequence[dict[str, Any]]:
    """Return all parts of what is asked for; as JSON only the first, which is printed and says where to go on."""
    query: dict[str, str | int] = {name: value for name, value in given.items() if value is not None}
    if isinstance(under := query.get("under"), str):
        query["under"] = ShownNodes(url, document_id).whole(under)
    path = document_path(document_id, what)
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


def _outlined(nodes: Sequence[Item], depth: int, name: Naming) -> Iterator[str]:
    for node in nodes:
        title = one_line(" ".join(filter(None, (node.get("number"), node.get("text")))))
        words = f"{node['words']} words" if "words" in node else ""
        marks = ", ".join(f"{count} {mark}" for mark, count in node.get("marks", {}).items())
        more = ", ".join(filter(None, (words, marks)))
        called = name(node["id"])
        # An end does not say what it is of.
        title = title or (node["kind"] if called != node["id"] else "")
        yield "  " * depth + "  ".join(filter(None, (called, title, f"({more})" if more else "")))
        yield from _outlined(node.get("children", ()), depth + 1, name)


def _change(item: Item, name: Naming) -> Iterator[str]:
    facts = "  ".join(
        str(one) for one in (name(item["id"]), item.get("change"), item.get("author"), item.get("at")) if one
    )
    yield f"{facts}  {one_line(item.get('text', ''))}".rstrip()


def _picture(item: Item, name: Naming) -> Iterator[str]:
    size = f"{item['width']:g} x {item['height']:g}  " if "width" in item and "height" in item else ""
    yield f"{name(item['id'])}  {size}{one_line(item.get('name', ''))}".rstrip()


def _remark(item: Item, name: Naming) -> Iterator[str]:
    is_answer = "inReplyTo" in item
    margin = "    " if is_answer else ""
    facts = [name(item["id"]), item.get("author"), item.get("at")]
    if not is_answer:
        parent = name(item.get("shape") or item.get("parent") or "")
        place = f"{parent}!{item['cell']}" if "cell" in item else parent
        words = f" {json.dumps(one_line(item['about'], 60), ensure_ascii=False)}" if "about" in item else ""
        facts = [facts[0], item.get("state"), *facts[1:], f"on {place}{words}" if place else None]
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
