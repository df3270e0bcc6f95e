"""Details: all nodes of a document, down to those that no edit names yet, as each format tells of them.

A format makes the tree of them once for each state; outlines, single nodes and
finds are read from it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, eq=False)
class Detail:
    """One node, with all below it."""

    id: str
    kind: str
    text: str = ""
    """What it says itself; what is said below it is there."""
    name: str = ""
    """What it is called, if it is called anything: a picture's alternative text."""
    level: int = 0
    number: str = ""
    """The number that a reader sees before it, such as `4.2`."""
    is_title: bool = False
    """Whether its text names what is below it, as that of a heading does."""
    is_coarse: bool = False
    """Whether outlines list it when nobody asks for kinds."""
    is_repeated: bool = False
    """Whether its text stands in the node around it, too, so that a search need not look twice."""
    mark: str = ""
    """What it is counted as by the nodes around it."""
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    """What is to be said of it besides."""
    children: list["Detail"] = field(default_factory=list["Detail"])
    source: Any = None
    """What the format made it of."""
    words: int = 0
    """How many words are in it and below it."""
    marks: Counter[str] = field(default_factory=Counter[str])
    """What stands below it without being text."""

    def sum_up(self) -> None:
        """Count words and marks from the leaves up; called once, when the tree is whole."""
        self.words = 0 if self.is_repeated else len(self.text.split())
        for child in self.children:
            child.sum_up()
            self.words += child.words
            if child.mark:
                self.marks[child.mark] += 1
            if child.marks:
                self.marks.update(child.marks)


class Tree:
    """The details of one state of a document, and where each of them is."""

    def __init__(self, top: Sequence[Detail]) -> None:
        self.top = list(top)
        self.by_id: dict[str, Detail] = {}
        self.parents: dict[str, Detail] = {}
        for detail in self.top:
            detail.sum_up()
            self._enter(detail)

    def siblings(self, detail: Detail) -> list[Detail]:
        """Return the nodes beside a node, itself among them."""
        parent = self.parents.get(detail.id)
        return self.top if parent is None else parent.children

    def below(self, under: Detail | None) -> Iterator[Detail]:
        """Yield a node and all below it, in order; all nodes if none is given."""
        # They were entered in this order.
        yield from self.by_id.values() if under is None else _walk([under])

    def _enter(self, detail: Detail) -> None:
        # Two nodes of one id: the first has it, the others are told apart by their turn.
        given, times = detail.id, 0
        while detail.id in self.by_id:
            times += 1
            detail.id = f"{given}+" if times == 1 else f"{given}+{times}"
        self.by_id[detail.id] = detail
        for child in detail.children:
            self._enter(child)
            self.parents[child.id] = detail


def _walk(details: Sequence[Detail]) -> Iterator[Detail]:
    for detail in details:
        yield detail
        yield from _walk(detail.children)
