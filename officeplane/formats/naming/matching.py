"""Matching: which nodes of a file are those of the document before it, by kind, order and text.

What says something that nothing else says is found wherever it stands now. In between
order decides, and then likeness. What a node is called in the file counts only where the file
calls everything that is sure as it was called before: other programs number anew. Who is not
found is new, for a wrong id does more harm than a new one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from officeplane.formats.diff import longest_rising, steps
from officeplane.formats.naming.named import Named

NODES_MAX: Final = 100_000
_LIKE: Final = 0.6
_SLIGHTLY_LIKE: Final = 0.3
_COMPARED_MAX: Final = 10_000
"""How many times two nodes are compared by likeness; who is not found until then is new."""
_LETTERS_MAX: Final = 1_000


class Pair(NamedTuple):
    """A node as it was and as it is."""

    was: Named
    now: Named


def pairs(before: Sequence[Named], after: Sequence[Named], *, numbers_count: bool) -> list[Pair]:
    """Return the nodes that are the same; `numbers_count` if the file may hold the numbers that the document had."""
    found = _Matching(before, after)
    found.take_sure()
    found.take_unique()
    if numbers_count and all(
        pair.was.number == pair.now.number for pair in found.pairs() if pair.was.is_own and pair.now.is_own
    ):
        found.take_numbered()
    found.take_in_order()
    return found.pairs()


class _Matching:
    def __init__(self, before: Sequence[Named], after: Sequence[Named]) -> None:
        self._before = before
        self._after = after
        self._now: dict[int, int] = {}
        self._taken: set[int] = set()
        self._is_numbered = False
        self._compared = 0

    def pairs(self) -> list[Pair]:
        return [Pair(self._before[i], self._after[j]) for i, j in self._now.items()]

    def take_sure(self) -> None:
        """Pair what has a number that no program gives to anything else."""
        places = {(node.family, node.number): j for j, node in enumerate(self._after) if node.is_sure}
        for i, node in enumerate(self._before):
            j = places.get((node.family, node.number))
            if node.is_sure and j is not None and j not in self._taken:
                self._take(i, j)

    def take_unique(self) -> None:
        """Pair what says something that nothing else says in either."""
        left = [self._before[i] for i in range(len(self._before)) if i not in self._now]
        came = [self._after[j] for j in range(len(self._after)) if j not in self._taken]
        was, now = (Counter(node.signature for node in nodes) for nodes in (left, came))
        places = {node.signature: j for j, node in enumerate(self._after) if j not in self._taken}
        for i, node in enumerate(self._before):
            if i in self._now or node.is_blank:
                continue
            if was[node.signature] == 1 == now[node.signature]:
                self._take(i, places[node.signature])

    def take_numbered(self) -> None:
        """Pair what is called and says the same."""
        self._is_numbered = True
        places = {(*node.signature, node.number): j for j, node in enumerate(self._after) if node.is_own}
        for i, node in enumerate(self._before):
            j = places.get((*node.signature, node.number))
            if i not in self._now and node.is_own and j is not None and j not in self._taken:
                self._take(i, j)

    def take_in_order(self) -> None:
        """Pair what is left between two pairs that follow one another in both."""
        for was, now in self._gaps():
            self._take_equal(was, now)
            self._take_alike(self._free(was), [j for j in now if j not in self._taken])

    def _take(self, i: int, j: int) -> None:
        self._now[i] = j
        self._taken.add(j)

    def _free(self, was: Sequence[int]) -> list[int]:
        return [i for i in was if i not in self._now]

    def _gaps(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the nodes that are not paired yet, between pairs in order."""
        known = sorted(self._now.items())
        kept = longest_rising([j for _, j in known])
        ends = [pair for at, pair in enumerate(known) if at in kept]
        i = j = 0
        for end_i, end_j in [*ends, (len(self._before), len(self._after))]:
            was, now = self._free(range(i, end_i)), [at for at in range(j, end_j) if at not in self._taken]
            if was and now:
                yield was, now
            i, j = end_i + 1, end_j + 1

    def _take_equal(self, was: Sequence[int], now: Sequence[int]) -> None:
        # From the end on: of headings that say the same the one is meant that what follows stands below.
        was, now = was[::-1], now[::-1]
        before, after = [self._before[i] for i in was], [self._after[j] for j in now]
        blank, blank_now = (Counter(node.family for node in nodes if node.is_blank) for nodes in (before, after))
        keys = [["\0".join(node.signature) for node in nodes] for nodes in (before, after)]
        for step in steps(*keys):
            for a, b in zip(step.before, step.after, strict=True) if step.is_same else ():
                family = before[a].family
                # Of what says nothing only the order tells one from the other, so none may have gone.
                if not before[a].is_blank or blank[family] == blank_now[family]:
                    self._take(was[a], now[b])

    def _take_alike(self, was: Sequence[int], now: Sequence[int]) -> None:
        families = dict.fromkeys(self._before[i].family for i in was)
        for family in families:
            one = [i for i in was if self._before[i].family == family]
            other = [j for j in now if self._after[j].family == family]
            if self._is_numbered:
                self._take_same_numbers(one, other)
            self._take_similar(self._free(one), [j for j in other if j not in self._taken])

    def _take_same_numbers(self, was: Sequence[int], now: Sequence[int]) -> None:
        places = {self._after[j].number: j for j in now if self._after[j].is_own}
        for i in was:
            j = places.get(self._before[i].number) if self._before[i].is_own else None
            if j is not None and self._likeness(i, j) >= _SLIGHTLY_LIKE:
                self._take(i, j)

    def _take_similar(self, was: Sequence[int], now: Sequence[int]) -> None:
        """Pair each with the first that is like it, behind the last one paired."""
        begin = 0
        for i in was:
            for at in range(begin, len(now)):
                if self._compared >= _COMPARED_MAX:
                    return
                if self._likeness(i, now[at]) >= _LIKE:
                    self._take(i, now[at])
                    begin = at + 1
                    break

    def _likeness(self, i: int, j: int) -> float:
        self._compared += 1
        return _likeness(self._before[i], self._after[j]) if self._compared <= _COMPARED_MAX else 0.0


def _likeness(was: Named, now: Named) -> float:
    """Return how much two nodes have in common of their words, and of those that follow one another."""
    said = ((node.said if node.like is None else node.like())[:_LETTERS_MAX].split() for node in (was, now))
    one, other = (Counter([*words, *pairwise(words)]) for words in said)
    whole = one.total() + other.total()
    return 2 * (one & other).total() / whole if whole else 0.0
