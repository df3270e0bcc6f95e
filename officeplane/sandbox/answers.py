"""Answers: what a child may say, and how much of it.

A child has read what anybody may have sent. What it says is measured before it is
taken in and checked before it is looked at; nothing that it says is a reason to
wait, to allocate, or to believe more than what was asked for.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, FailFast, Field

from officeplane.domain.document import Format
from officeplane.domain.warning import WARNINGS_MAX
from officeplane.formats.properties import TITLE_MAX
from officeplane.formats.shown import SHOWN_BYTES_MAX
from officeplane.frames import Bounds

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB
_BOUNDS: Final[Mapping[str, Bounds]] = {
    "blank": Bounds(64 * _KIB, _MIB),
    "text": Bounds(64 * _KIB, SHOWN_BYTES_MAX),
    # In JSON a quote or the end of a line takes two bytes.
    "outline": Bounds(2 * SHOWN_BYTES_MAX + _MIB, 0),
    "difference": Bounds(16 * _MIB, 0),
    # All pieces of a large file, if an edit has changed everything.
    "apply": Bounds(16 * _MIB, 96 * _MIB),
}
_OTHERS: Final = Bounds(4 * _MIB, 0)

_Told = Annotated[str, Field(max_length=256 * _KIB)]


class _Node(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    id: str
    kind: str
    text: str
    marks: Annotated[dict[str, int], Field(max_length=100)]
    children: Annotated[list["_Node"], FailFast()]


class _Loss(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    kind: Annotated[str, Field(max_length=100)]
    nodeId: Annotated[str, Field(max_length=1_000)] = ""  # noqa: N815 - as JSON has it
    name: Annotated[str, Field(max_length=1_000)] = ""
    times: int


class _Facts(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    losses: Annotated[list[_Loss], Field(max_length=WARNINGS_MAX), FailFast()] = []


class Answer(BaseModel):
    """Whatever a child may say."""

    model_config = ConfigDict(strict=True, extra="forbid")

    tired: bool = False
    more: bool = False
    missing: Annotated[str, Field(max_length=64)] = ""
    invalid: _Told = ""
    facts: _Facts = _Facts()
    index: Annotated[int, Field(ge=0)] = 0
    unsupported: Annotated[list[_Told], Field(min_length=2, max_length=2)] = []
    too_large: bool = False
    broke: Any = None
    error: _Told = ""
    format: Annotated[Format, Field(strict=False)] = Format.DOCX
    cuts: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=20_000), FailFast()] = []
    title: Annotated[str, Field(max_length=TITLE_MAX)] = ""
    nodes: Annotated[list[_Node], FailFast()] = []
    difference: dict[str, Any] = {}
    # The first thing that is wrong is enough: to list all of them takes many times what was sent.
    changed: Annotated[list[str], FailFast()] = []
    results: Annotated[list[dict[str, Any]], FailFast()] = []


def bounds_of(deed: object) -> Bounds:
    """Return how much may be said in answer to a request."""
    return _BOUNDS.get(str(deed), _OTHERS)


def text_in(attached: Sequence[bytes]) -> str:
    """Return the text that was asked for; what is none is shown as such."""
    data = b"".join(attached)
    try:
        # A cell may hold half of a character.
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")
