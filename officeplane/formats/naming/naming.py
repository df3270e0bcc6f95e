"""Naming a file: the names by which its nodes are those of the document that it follows."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from officeplane.formats.naming.matching import NODES_MAX, pairs
from officeplane.formats.naming.named import Named, NamedNodes
from officeplane.formats.naming.names import NAMES_BYTES_MAX, Names, scoped


class Level(NamedTuple):
    """The nodes below one, or at the top, and the highest number there of what is no node, or has gone."""

    nodes: Sequence[Named]
    last: int

    @property
    def highest(self) -> int:
        """The highest number that there was of what is counted."""
        return max(self.last, max((int(node.number) for node in self.nodes if node.is_counted), default=0))


def names_after(head: NamedNodes, upload: NamedNodes, seed: str, *, head_is_named: bool) -> Names:
    """Return what to call the nodes of an upload: as those of the head that they are, or as nothing was before.

    `head_is_named` when the head's own file calls its nodes otherwise, so that equal numbers mean nothing.
    """
    if max(_size(head), _size(upload)) > NODES_MAX:
        return Names(seed=seed)
    found = _Naming(upload, seed, numbers_count=not head_is_named)
    found.name(Level(head.top, head.last), Level(upload.top, upload.last), "")
    names = Names(found.numbers, found.last)
    return names if len(names.encode()) <= NAMES_BYTES_MAX else Names(seed=seed)


class _Naming:
    def __init__(self, upload: NamedNodes, seed: str, *, numbers_count: bool) -> None:
        self._upload = upload
        self._seed = seed
        self._numbers_count = numbers_count
        self.numbers: dict[str, str] = {}
        self.last: dict[str, int] = {}

    def name(self, before: Level, after: Level, scope: str) -> None:
        """Name the nodes below one of the upload's nodes, or at the top."""
        same = _same(before.nodes, after.nodes, numbers_count=self._numbers_count)
        taken: dict[str, set[str]] = {}
        for node in (*before.nodes, *after.nodes):
            taken.setdefault(node.family, set()).add(node.number)
        last = max(before.highest, after.highest)
        highest = after.last
        for node in after.nodes:
            was = same.get(node)
            if was is None:
                number = self._upload.fresh(node, self._seed, taken[node.family], last)
                taken[node.family].add(number)
            else:
                number = was.number
                self.name(Level(was.below, was.last), Level(node.below, node.last), node.id)
            if number != node.number:
                self.numbers[node.id] = number
            if node.is_counted:
                highest = max(highest, int(number))
                last = max(last, highest)
        if before.highest > highest:
            self.last[scope] = before.highest


def _same(before: Sequence[Named], after: Sequence[Named], *, numbers_count: bool) -> dict[Named, Named]:
    """Return which node of the document each node of the file is; the others are new."""
    found = pairs(before, after, numbers_count=numbers_count)
    # A file may number two nodes alike: they are told apart by their turn, which is not written anywhere.
    times = Counter((node.family, node.number) for node in before)
    stayed = Counter((was.family, was.number) for was, now in found if was.id == now.id)
    return {
        now: was
        for was, now in found
        if times[was.family, was.number] == 1
        or stayed[was.family, was.number] == times[was.family, was.number] == _times(after, was)
    }


def _times(nodes: Sequence[Named], like: Named) -> int:
    return sum(node.family == like.family and node.number == like.number for node in nodes)


def _size(nodes: NamedNodes) -> int:
    return sum(1 for _ in scoped(nodes.top))
