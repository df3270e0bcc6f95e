"""Warnings: what whoever asked for an edit should know of it, and what an edit would destroy."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from officeplane.domain.document import InvalidEditError

LOST: Final = "lost"
"""The code of what stood in the document and went although the edit does not name it."""

WARNINGS_MAX: Final = 100
"""More are counted and not listed: a result is no place for thousands of them."""

_NAMED_MAX: Final = 20
_DETAIL_MAX: Final = 300
_NAME_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class EditWarning:
    """Something that an edit did and that nobody would see in what it was asked for."""

    code: str
    """A stable word for the kind of it."""
    detail: str
    node_id: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as a result has it."""
        about = {} if self.node_id is None else {"nodeId": self.node_id}
        return {"code": self.code, **about, "detail": _cut(self.detail, _DETAIL_MAX)}


@dataclass(frozen=True, slots=True)
class Loss:
    """Something in a document that an edit would destroy without naming it."""

    kind: str
    """What it is in plain words, such as "picture"."""
    node_id: str | None
    """The node that it is, or that it stands in."""
    name: str = ""
    """What it is called or says, where it does."""

    def as_json(self, times: int) -> dict[str, Any]:
        """Return it as the error of a refused edit has it."""
        about = {} if self.node_id is None else {"nodeId": _cut(self.node_id, _DETAIL_MAX)}
        named = {"name": _cut(self.name, _NAME_MAX)} if self.name else {}
        return {"kind": self.kind, **about, **named, "times": times}

    def __str__(self) -> str:
        return f"{self.kind} {_cut(self.name, _NAME_MAX)!r}" if self.name else self.kind


def as_json(warnings: Sequence[EditWarning]) -> list[dict[str, Any]]:
    """Return warnings as a result has them; too many are cut, and the last one says so."""
    told = [warning.as_json() for warning in warnings[:WARNINGS_MAX]]
    if (left := len(warnings) - len(told)) > 0:
        told[-1] = EditWarning("more", f"{left + 1} more warnings are not listed").as_json()
    return told


def as_warnings(losses: Iterable[Loss]) -> list[EditWarning]:
    """Return what to say of losses that were meant; those that are alike are counted."""
    return [EditWarning(LOST, _counted(loss, times), loss.node_id) for loss, times in Counter(losses).items()]


def refusal(losses: Iterable[Loss]) -> InvalidEditError:
    """Return why an edit is refused that would destroy something."""
    counted = Counter(losses)
    named = [
        _counted(loss, times) + ("" if loss.node_id is None else f" in {loss.node_id}")
        for loss, times in list(counted.items())[:_NAMED_MAX]
    ]
    more = len(counted) - len(named)
    return InvalidEditError(
        f"it would destroy what it does not name: {', '.join(named)}{f' and {more} more' if more else ''}; "
        'to do it all the same, say "discard": true',
        {"losses": [loss.as_json(times) for loss, times in list(counted.items())[:WARNINGS_MAX]]},
    )


def _counted(loss: Loss, times: int) -> str:
    return str(loss) if times == 1 else f"{loss} ({times} times)"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
