"""Units: the nodes by which states of a document are compared, and what a comparison comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from officeplane.domain.document import InvalidEditError
from officeplane.domain.failure import storable
from officeplane.domain.warning import EditWarning

CONFLICTS_MAX: Final = 100
_SAID_MAX: Final = 300


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A node as one state has it."""

    id: str
    """As reading tells it."""
    exactly: str
    """All that it says and how, but for what every program writes anew."""
    said: str
    """What is told of it where it is in conflict."""
    roughly: str
    """What a reader would name of that, for programs that write everything anew."""
    is_title: bool = False
    """Whether it names what follows it."""
    tied: frozenset[str] = frozenset()
    """What others have tied to it that is none of that: their comments."""
    source: Any = None


class Conflict(NamedTuple):
    """A node that both have changed, each in another way, or that cannot be carried over; what each says of it."""

    node_id: str
    base: str | None
    head: str | None
    upload: str | None
    detail: str = "both have changed it"

    def as_json(self) -> dict[str, str | None]:
        """Return it as an answer has it; long texts are cut."""
        said = {"base": _cut(self.base), "head": _cut(self.head), "upload": _cut(self.upload)}
        return {"nodeId": _cut(self.node_id), **said, "detail": storable(self.detail)}


class MergeConflictError(InvalidEditError):
    """What the upload has changed cannot be done to the head."""

    def __init__(self, conflicts: Sequence[Conflict]) -> None:
        told = [one.as_json() for one in conflicts[:CONFLICTS_MAX]]
        named = ", ".join(repr(one.node_id) for one in conflicts[:3])
        more = f" and {len(conflicts) - 3} more" if len(conflicts) > 3 else ""
        super().__init__(
            f"it cannot be merged because of {named}{more}: {conflicts[0].detail}; nothing was merged. Download the "
            "document as it is now, make the changes there, and upload that",
            {"conflicts": told, "times": len(conflicts)},
        )


@dataclass(slots=True)
class Merged:
    """What was done to the head."""

    changed: list[str] = field(default_factory=list[str])
    added: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    moved: list[str] = field(default_factory=list[str])
    warnings: list[EditWarning] = field(default_factory=list[EditWarning])

    @property
    def is_nothing(self) -> bool:
        """Whether the head stays as it is."""
        return not (self.changed or self.added or self.removed or self.moved)


def _cut(said: str | None) -> str | None:
    if said is None:
        return None
    return storable(said if len(said) <= _SAID_MAX else said[: _SAID_MAX - 1] + "…")
