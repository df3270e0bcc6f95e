"""Differences: what changed between two states of a document, in its text and in its nodes."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple, Protocol

from officeplane.domain.document import Node

LINES_MAX: Final = 2_000
"""A longer text of differences is cut; its last line says so."""

NODES_MAX: Final = 1_000
TEXT_MAX: Final = 500
"""Longer texts of nodes and lines are cut: who wants all of it reads the document."""

_CONTEXT: Final = 3
_COMPARED_MAX: Final = 4_000
"""Stretches of more lines are not compared line by line: that takes time in squares."""


class Readable(Protocol):
    """What any document can be asked for."""

    def outline(self) -> list[Node]: ...

    def text(self) -> str: ...


class _Placed(NamedTuple):
    node: Node
    parent: str
    rank: int


class Step(NamedTuple):
    """A stretch of lines that is the same in both or not, by where it is in each."""

    is_same: bool
    before: range
    after: range


def difference(before: Readable, after: Readable) -> dict[str, Any]:
    """Return what changed: the text as a unified diff, and the nodes added, removed, changed and moved."""
    return {
        "text": _text(before.text().split("\n"), after.text().split("\n")),
        "nodes": _nodes(before.outline(), after.outline()),
    }


def _text(before: list[str], after: list[str]) -> list[str]:
    lines: list[str] = []
    for line in unified(before, after):
        if len(lines) == LINES_MAX:
            return [*lines, "… (more differences are left out)"]
        lines.append(_cut(line))
    return lines


def unified(before: list[str], after: list[str], context: int = _CONTEXT) -> Iterator[str]:
    """Yield what changed line by line, with some lines around it."""
    for hunk in _hunks(steps(before, after), context):
        first, last = hunk[0], hunk[-1]
        old = _range(range(first.before.start, last.before.stop))
        new = _range(range(first.after.start, last.after.stop))
        yield f"@@ -{old} +{new} @@"
        for step in hunk:
            if step.is_same:
                yield from (f" {before[at]}" for at in step.before)
            else:
                yield from (f"-{before[at]}" for at in step.before)
                yield from (f"+{after[at]}" for at in step.after)


def steps(before: list[str], after: list[str]) -> list[Step]:
    """Return the two texts as stretches; what they have in common at both ends is not compared."""
    shorter = min(len(before), len(after))
    head = 0
    while head < shorter and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < shorter - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    one, other = before[head : len(before) - tail], after[head : len(after) - tail]
    found = [Step(True, range(head), range(head))]
    if max(len(one), len(other)) > _COMPARED_MAX:
        found.append(Step(False, range(head, head + len(one)), range(head, head + len(other))))
    else:
        for tag, a, b, c, d in SequenceMatcher(None, one, other, autojunk=True).get_opcodes():
            found.append(Step(tag == "equal", range(head + a, head + b), range(head + c, head + d)))
    found.append(Step(True, range(len(before) - tail, len(before)), range(len(after) - tail, len(after))))
    return [step for step in found if step.before or step.after]


def _hunks(steps: Sequence[Step], context: int) -> Iterator[list[Step]]:
    """Yield the changes with a few lines around them; those near each other together."""
    hunk: list[Step] = []
    for step in steps:
        if not step.is_same:
            hunk.append(step)
            continue
        if any(not one.is_same for one in hunk):
            if len(step.before) <= 2 * context and step is not steps[-1]:
                hunk.append(step)
                continue
            yield [*hunk, *_shortened(step, slice(context))]
        hunk = _shortened(step, slice(-context, None) if context else slice(0, 0))
    if any(not one.is_same for one in hunk):
        yield hunk


def _shortened(step: Step, part: slice) -> list[Step]:
    shortened = Step(True, step.before[part], step.after[part])
    return [shortened] if shortened.before else []


def _range(lines: range) -> str:
    if len(lines) == 1:
        return str(lines.start + 1)
    return f"{lines.start + 1 if lines else lines.start},{len(lines)}"


def _nodes(before: list[Node], after: list[Node]) -> dict[str, list[dict[str, str]]]:
    was = {placed.node.id: placed for placed in _walk(before)}
    now = {placed.node.id: placed for placed in _walk(after)}
    common = [(was[name], placed) for name, placed in now.items() if name in was]
    moved = _moved(common)
    return {
        "added": _told(placed.node for name, placed in now.items() if name not in was),
        "removed": _told(placed.node for name, placed in was.items() if name not in now),
        "changed": _told(new.node for old, new in common if _content(old.node) != _content(new.node)),
        "moved": _told(placed.node for _, placed in common if placed.node.id in moved),
    }


def _content(node: Node) -> tuple[str, str, dict[str, int]]:
    return node.kind, node.text, node.marks


def _walk(nodes: Sequence[Node], parent: str = "") -> Iterator[_Placed]:
    for rank, node in enumerate(nodes):
        yield _Placed(node, parent, rank)
        yield from _walk(node.children, node.id)


def _moved(common: list[tuple[_Placed, _Placed]]) -> set[str]:
    """Return the nodes that have another parent, or stand elsewhere among the siblings they stayed with."""
    moved: set[str] = set()
    families: dict[str, list[_Placed]] = {}
    for old, new in common:
        if old.parent == new.parent:
            families.setdefault(new.parent, []).append(old)
        else:
            moved.add(new.node.id)
    for siblings in families.values():
        kept = longest_rising([old.rank for old in siblings])
        moved.update(old.node.id for at, old in enumerate(siblings) if at not in kept)
    return moved


def longest_rising(ranks: Sequence[int]) -> set[int]:
    """Return the places of a longest subsequence that rises: who is not in it has moved."""
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for at, rank in enumerate(ranks):
        length = bisect_left(tops, rank)
        before.append(ends[length - 1] if length else -1)
        tops[length : length + 1] = [rank]
        ends[length : length + 1] = [at]
    kept: set[int] = set()
    at = ends[-1] if ends else -1
    while at >= 0:
        kept.add(at)
        at = before[at]
    return kept


def _told(nodes: Iterable[Node]) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for node in nodes:
        if len(found) == NODES_MAX:
            break
        found.append({"id": node.id, "kind": node.kind, "text": _cut(node.text)})
    return found


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 1] + "…"
