"""Graphs: nodes and what each of them depends on. Everything here is linear, and no chain is too long for it."""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

Node = TypeVar("Node", bound=Hashable)
Needs: TypeAlias = Mapping[Node, Collection[Node]]
"""What each node depends on. What is no node itself lies outside and does not count."""

_TOLD_MAX: Final = 20


def find_cycle(needs: Needs[Node]) -> list[Node] | None:
    """Return a cycle, each node followed by one that it depends on and the last by the first; None if there is none."""
    clear: set[Node] = set()
    for start in needs:
        path: dict[Node, None] = {}
        ways = [iter((start,))]
        while ways:
            node = next(ways[-1], None)
            if node is None:
                ways.pop()
                if path:
                    clear.add(path.popitem()[0])
            elif node in path:
                on_the_way = list(path)
                return on_the_way[on_the_way.index(node) :]
            elif node in needs and node not in clear:
                path[node] = None
                ways.append(iter(tuple(needs[node])))
    return None


def in_order(needs: Needs[Node]) -> list[Node]:
    """Return the nodes of a graph without cycles, each after all that it depends on."""
    waiting = {node: sum(before in needs for before in set(befores)) for node, befores in needs.items()}
    after = dependents(needs)
    order = [node for node, count in waiting.items() if not count]
    for node in order:
        for dependent in after[node]:
            waiting[dependent] -= 1
            if not waiting[dependent]:
                order.append(dependent)
    return order


def dependents(needs: Needs[Node]) -> dict[Node, list[Node]]:
    """Return what depends on each node."""
    after: dict[Node, list[Node]] = {node: [] for node in needs}
    for node, befores in needs.items():
        for before in set(befores):
            if before in after:
                after[before].append(node)
    return after


def roots(needs: Needs[Node]) -> list[Node]:
    """Return the nodes that depend on no other."""
    return [node for node, befores in needs.items() if not any(before in needs for before in befores)]


def leaves(needs: Needs[Node]) -> list[Node]:
    """Return the nodes that no other depends on."""
    needed = {before for befores in needs.values() for before in befores}
    return [node for node in needs if node not in needed]


def longest_path(needs: Needs[Node]) -> list[Node]:
    """Return the longest chain of a graph without cycles, its first node first; of equals the earliest given."""
    length: dict[Node, int] = {}
    comes_after: dict[Node, Node] = {}
    for node in in_order(needs):
        befores = [before for before in needs[node] if before in needs]
        if befores:
            comes_after[node] = max(befores, key=lambda before: length[before])
        length[node] = 1 + (length[comes_after[node]] if befores else 0)
    if not length:
        return []
    path = [max(needs, key=lambda node: length[node])]
    while path[-1] in comes_after:
        path.append(comes_after[path[-1]])
    return path[::-1]


def reached_from(starts: Iterable[Node], ways: Mapping[Node, Collection[Node]]) -> set[Node]:
    """Return the starts and whatever ways lead to from them."""
    found = set(starts)
    ahead = list(found)
    for node in ahead:
        for following in ways.get(node, ()):
            if following not in found:
                found.add(following)
                ahead.append(following)
    return found


class Predecessors:
    """Which nodes of a graph without cycles come before which, directly or not.

    A set of nodes is a number with a bit for each: ten thousand of them are put
    together by one operation, so the whole takes little more than the edges do.
    """

    def __init__(self, needs: Needs[Node]) -> None:
        self._bits: dict[Hashable, int] = {node: 1 << place for place, node in enumerate(needs)}
        self._before: dict[Hashable, int] = {}
        for node in in_order(needs):
            before = 0
            for one in needs[node]:
                before |= self._bits.get(one, 0) | self._before.get(one, 0)
            self._before[node] = before

    def before(self, others: Iterable[Hashable]) -> Callable[[Hashable], bool]:
        """Return what tells whether any of the others depends on a node, directly or not, or is that node."""
        found = 0
        for other in others:
            found |= self._bits.get(other, 0) | self._before.get(other, 0)
        return lambda one: bool(self._bits.get(one, 0) & found)


def told(cycle: Sequence[str]) -> str:
    """Return a cycle in words; of a long one how it begins and how long it is."""
    if len(cycle) > _TOLD_MAX:
        return " -> ".join((*cycle[:_TOLD_MAX], f"… ({len(cycle)} in all)", cycle[0]))
    return " -> ".join((*cycle, cycle[0]))
