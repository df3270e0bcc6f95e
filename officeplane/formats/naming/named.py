"""Named nodes: those with an id that a file can hold, so that another one can be written into it."""

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from officeplane.domain.errors import TooLargeToShowError
from officeplane.formats.reading.detail import Detail
from officeplane.formats.reading.reader import Reader

NUMBERS_END: Final = 2**28
"""New numbers are below this, which all programs take."""


@dataclass(slots=True, eq=False)
class Named:
    """A node with what its file calls it."""

    id: str
    """As reading tells it."""
    family: str
    """Only nodes of one family are the same at different times."""
    number: str
    """What of the id is its own: a number, or in texts what stands for one."""
    said: str = ""
    looks: str = ""
    """What tells it from others that say the same, or nothing: whose comment it is, what a picture shows."""
    is_own: bool = True
    """Whether the file holds the number; if not, it is derived from what the node says."""
    is_sure: bool = False
    """Whether no other program gives the number to something else, for it was made here and is no count."""
    like: Callable[[], str] | None = None
    """Tells what to compare if it is called otherwise now: of a sheet what is on it."""
    below: list["Named"] = field(default_factory=list["Named"])
    """Nodes whose ids begin with the id of this one."""
    is_counted: bool = False
    """Whether new nodes of its family get the number after the highest."""
    last: int = 0
    """The highest number below it of what is no node, or has gone."""
    source: Any = None

    @property
    def signature(self) -> tuple[str, str, str]:
        """What two nodes have in common that are taken for one."""
        return self.family, self.said, self.looks

    @property
    def is_blank(self) -> bool:
        """Whether nothing of it tells it from others."""
        return not self.said.strip() and not self.looks


class NamedNodes(Protocol):
    """The nodes of one file, by whose ids it can be read and edited."""

    @property
    def top(self) -> Sequence[Named]:
        """Those that are below no other."""
        ...

    @property
    def last(self) -> int:
        """The highest number at the top of what has gone, as far as the file tells."""
        ...

    def write(self, numbers: Mapping[Named, str], last: Mapping[str, int]) -> None:
        """Have the file give nodes these numbers, and no node again any up to these: below a node, or at the top."""
        ...

    def fresh(self, node: Named, seed: str, taken: Collection[str], last: int) -> str:
        """Return a number for a node that nothing in its family has, or had."""
        ...


def hashed(node: Named, seed: str, taken: Collection[str], begin: int = 1, end: int = NUMBERS_END) -> str:
    """Return a number that is not taken, from the seed and the id, the same one whenever it is asked for."""
    turn = 0
    while True:
        chosen = str(begin + int(digest(node, seed, turn), 16) % (end - begin))
        if chosen not in taken:
            return chosen
        turn += 1


def shown_by(reader: Reader, detail: Detail) -> str:
    """Return what tells a picture from another one; nothing of what is none, or is too large to be looked at."""
    try:
        content = reader.picture(detail) if detail.kind == "picture" else None
    except TooLargeToShowError:
        return ""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def digest(node: Named, seed: str, turn: int = 0) -> str:
    """Return twelve digits for a node, from the seed and its id."""
    return hashlib.sha256(f"{seed}\0{node.id}\0{turn}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
