"""Names: what the nodes of a file are called, as far as the file itself calls them otherwise."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from officeplane.formats.naming.named import Named, NamedNodes

NAMES_BYTES_MAX: Final = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Names:
    """The numbers of nodes by the ids that the file gives them.

    With a seed, all others get new ones: what could not be matched must not be called what another node was called.
    """

    numbers: Mapping[str, str] = field(default_factory=dict[str, str])
    last: Mapping[str, int] = field(default_factory=dict[str, int])
    """The highest numbers that were ever given, below a node or at the top."""
    seed: str = ""

    def encode(self) -> bytes:
        """Return them as they are kept: nothing, if the file says it all."""
        if not self.numbers and not self.last and not self.seed:
            return b""
        kept = {"numbers": self.numbers, "last": self.last, "seed": self.seed}
        return json.dumps(kept, separators=(",", ":"), sort_keys=True).encode()

    @classmethod
    def decode(cls, kept: bytes) -> "Names":
        """Return the names that `encode` wrote."""
        return cls(**json.loads(kept)) if kept else cls()


def apply(names: Names, nodes: NamedNodes) -> None:
    """Have a file call its nodes by these names."""
    numbers: dict[Named, str] = {}
    taken: dict[str, set[str]] = {}
    for scope, node in scoped(nodes.top):
        taken.setdefault(f"{scope}/{node.family}", set()).update((node.number, names.numbers.get(node.id, "")))
    for scope, node in scoped(nodes.top):
        number = names.numbers.get(node.id)
        if number is None and names.seed:
            number = nodes.fresh(node, names.seed, taken[f"{scope}/{node.family}"], 0)
            taken[f"{scope}/{node.family}"].add(number)
        if number is not None:
            numbers[node] = number
    nodes.write(numbers, names.last)


def scoped(nodes: Sequence[Named], scope: str = "") -> Iterator[tuple[str, Named]]:
    """Yield all nodes, each with the id of the one below which it has its number to itself."""
    for node in nodes:
        yield scope, node
        yield from scoped(node.below, node.id)
