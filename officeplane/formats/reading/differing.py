"""Differences by node: what each node said and says, and nothing of what stayed as it was."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

from officeplane.formats.diff import steps, unified
from officeplane.formats.reading.reader import Reader, Searched, page_around
from officeplane.formats.reading.room import Part, Room

DiffFormat = Literal["summary", "unified", "nodes"]
_AROUND: Final = 30
_SAID_MAX: Final = 300
_EXAMPLES: Final = 5
_EXAMPLE_MAX: Final = 60


class DiffWanted(NamedTuple):
    """How to tell what changed, with how many lines or words around it, and where the last answer ended."""

    format: DiffFormat = "summary"
    context: int = 3
    begin: int = 0
    tokens_max: int | None = None


class Change(NamedTuple):
    """What became of a node: one that came has said nothing before, one that went says nothing now."""

    was: Searched | None
    now: Searched | None

    @property
    def what(self) -> str:
        """What happened to it, in a word."""
        return "added" if self.was is None else "removed" if self.now is None else "changed"


def differences(before: Reader, after: Reader, texts: tuple[str, str], wanted: DiffWanted) -> Part:
    """Return what changed from one state to another in the form that is wanted; `texts` are what both say."""
    if wanted.format == "unified":
        lines = unified(texts[0].split("\n"), texts[1].split("\n"), wanted.context)
        return _bounded(({"line": line} for line in lines), wanted)
    changes = _changes([*before.searched(None)], [*after.searched(None)])
    told = (_told(change, before, after) for change in changes)
    if wanted.format == "summary":
        return Part([_summary([*told])], None)
    return _bounded(told, wanted)


def _bounded(items: Iterator[dict[str, Any]], wanted: DiffWanted) -> Part:
    room = Room(wanted.tokens_max)
    kept: list[dict[str, Any]] = []
    for at, item in enumerate(items):
        if at < wanted.begin:
            continue
        if not room.takes(item):
            return Part(kept, at)
        kept.append(item)
    return Part(kept, None)


def _changes(before: Sequence[Searched], after: Sequence[Searched]) -> Iterator[Change]:
    for step in steps([one.text for one in before], [one.text for one in after]):
        if step.is_same:
            continue
        gone, come = [before[at] for at in step.before], [after[at] for at in step.after]
        # A cell with a formula says two things.
        known = {(one.id, one.kind): one for one in come}
        kept = {(one.id, one.kind) for one in gone} & {*known}
        # Who kept its id has changed; of the others the first is taken for what became of the first, and so on.
        left = iter([one for one in come if (one.id, one.kind) not in kept])
        for one in gone:
            key = (one.id, one.kind)
            yield Change(one, known[key] if key in kept else next(left, None))
        yield from (Change(None, one) for one in left)


def _told(change: Change, before: Reader, after: Reader) -> dict[str, Any]:
    node = change.now or change.was
    assert node is not None  # noqa: S101 - one of the two is there
    item: dict[str, Any] = {"change": change.what, "id": node.id, "kind": node.kind}
    was, now = ("" if one is None else one.text for one in (change.was, change.now))
    if change.was is not None and change.now is not None:
        was, now = _apart(was, now)
    if change.was is not None:
        item["was"] = was
    if change.now is not None:
        item["now"] = now
    page = page_around((before if change.now is None else after).tree, node)
    if page is not None:
        item["page"] = page
    return item


def _apart(was: str, now: str) -> tuple[str, str]:
    """Return two texts without what they have in common at both ends, but for some words."""
    begin = 0
    while begin < min(len(was), len(now)) and was[begin] == now[begin]:
        begin += 1
    end = 0
    while end < min(len(was), len(now)) - begin and was[-1 - end] == now[-1 - end]:
        end += 1
    begin, end = max(begin - _AROUND, 0), max(end - _AROUND, 0)
    return _cut(was, begin, end), _cut(now, begin, end)


def _cut(text: str, begin: int, end: int) -> str:
    inner = text[begin : len(text) - end]
    inner = inner if len(inner) <= _SAID_MAX else inner[: _SAID_MAX - 1] + "…"
    return ("…" if begin else "") + inner + ("…" if end else "")


def _summary(changes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    counts = {what: sum(told["change"] == what for told in changes) for what in ("added", "removed", "changed")}
    examples: list[dict[str, Any]] = []
    for told in changes[:_EXAMPLES]:
        for name in ("was", "now"):
            if len(told.get(name, "")) > _EXAMPLE_MAX:
                told[name] = told[name][: _EXAMPLE_MAX - 1] + "…"
        told.pop("page", None)
        examples.append(told)
    return {**counts, "examples": examples}
