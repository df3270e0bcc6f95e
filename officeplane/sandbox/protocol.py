"""The protocol: how operations and answers go over the wire, and how much of it.

The owner and its children share the types of both, and for each direction there is one
encoder and one decoder. The owner does not trust a child: it bounds the size of an answer
before it reads it, checks all fields before it uses one, and accepts nothing but an answer
to what it asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, Generic, NamedTuple, TypeVar

from pydantic import TypeAdapter

from officeplane.domain.document import Format
from officeplane.domain.revision import Recipe
from officeplane.formats.naming.names import NAMES_BYTES_MAX
from officeplane.formats.pictures.parts import SHOWN_PICTURE_BYTES_MAX
from officeplane.formats.shown import SHOWN_BYTES_MAX
from officeplane.frames import Body, Bounds, Frame, head_of
from officeplane.sandbox.answers import (
    Admitted,
    Answer,
    Applied,
    Blank,
    Broke,
    Changed,
    Compared,
    Invalid,
    Items,
    KeptTold,
    Matched,
    Missing,
    NoNode,
    Outline,
    PictureBytes,
    Previewed,
    Refused,
    Represented,
    Text,
    TextPart,
    TooLarge,
    Unsupported,
)  # fmt: skip
from officeplane.sandbox.operations import (
    AnyOperation,
    Apply,
    Check,
    Compare,
    ComparePart,
    FindChanged,
    FindText,
    ListNodes,
    MakeBlank,
    Match,
    Merge,
    Opening,
    Operation,
    Preview,
    ReadCells,
    ReadNode,
    ReadNodes,
    ReadOutline,
    ReadPicture,
    ReadText,
    ReadTextPart,
    Represent,
    TellKept,
)  # fmt: skip

A = TypeVar("A")

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB


class Request(NamedTuple):
    """A request as it reaches a child."""

    operation: AnyOperation
    opens: Opening | None
    file: bytes


class Said(NamedTuple, Generic[A]):
    """An answer, and whether a fresh process should take the place of the one that gave it."""

    answer: A | Refused | Broke
    recycle: bool


class _Kind(NamedTuple):
    """How values of a type go over the wire."""

    name: str
    type: type[object]
    fields: tuple[str, ...]
    has_attached: bool
    decode: Callable[[object], Any]
    encode: Callable[[object], Any]


class _Asked(NamedTuple):
    """The type of the answers to an operation, and how large one may be."""

    answer: type[object]
    bounds: Bounds


_ASKED: Final[Mapping[type[object], _Asked]] = {
    Check: _Asked(Admitted, Bounds(4 * _MIB, 0)),
    MakeBlank: _Asked(Blank, Bounds(64 * _KIB, _MIB)),
    # In JSON a quote or the end of a line takes two bytes.
    ReadOutline: _Asked(Outline, Bounds(2 * SHOWN_BYTES_MAX + _MIB, 0)),
    ReadText: _Asked(Text, Bounds(64 * _KIB, SHOWN_BYTES_MAX)),
    ReadNodes: _Asked(Items, Bounds(2 * SHOWN_BYTES_MAX + _MIB, 0)),
    ReadNode: _Asked(Items, Bounds(2 * SHOWN_BYTES_MAX + _MIB, 0)),
    FindText: _Asked(Items, Bounds(2 * SHOWN_BYTES_MAX + _MIB, 0)),
    ListNodes: _Asked(Items, Bounds(2 * SHOWN_BYTES_MAX + _MIB, 0)),
    ReadPicture: _Asked(PictureBytes, Bounds(64 * _KIB, SHOWN_PICTURE_BYTES_MAX)),
    TellKept: _Asked(KeptTold, Bounds(64 * _KIB, 0)),
    Represent: _Asked(Represented, Bounds(64 * _KIB, SHOWN_BYTES_MAX)),
    ReadCells: _Asked(Items, Bounds(2 * SHOWN_BYTES_MAX + _MIB, 0)),
    ComparePart: _Asked(Items, Bounds(2 * SHOWN_BYTES_MAX + _MIB, 0)),
    ReadTextPart: _Asked(TextPart, Bounds(64 * _KIB, SHOWN_BYTES_MAX)),
    Compare: _Asked(Compared, Bounds(16 * _MIB, 0)),
    Match: _Asked(Matched, Bounds(64 * _KIB, NAMES_BYTES_MAX)),
    Merge: _Asked(Applied, Bounds(16 * _MIB, 96 * _MIB)),
    FindChanged: _Asked(Changed, Bounds(4 * _MIB, 0)),
    Preview: _Asked(Previewed, Bounds(16 * _MIB, 0)),
    # All pieces of a large file, if an edit has changed everything.
    Apply: _Asked(Applied, Bounds(16 * _MIB, 96 * _MIB)),
}
_ALWAYS: Final = (Invalid, Unsupported, TooLarge, NoNode, Missing, Broke)


def _kind(of: type[Any]) -> _Kind:
    adapter = TypeAdapter(of)
    names = [field.name for field in fields(of)]
    in_body = tuple(name for name in names if name != "attached")
    return _Kind(
        of.__name__, of, in_body, "attached" in names, adapter.validator.validate_python, adapter.serializer.to_python
    )


_ANSWERS: Final = dict.fromkeys(asked.answer for asked in _ASKED.values())
_KINDS: Final = [_kind(one) for one in (*_ASKED, *_ANSWERS, *_ALWAYS)]
_BY_NAME: Final = {kind.name: kind for kind in _KINDS}
_BY_TYPE: Final = {kind.type: kind for kind in _KINDS}


def bounds_of(operation: Operation[Any]) -> Bounds:
    """Return how large each answer to an operation may be."""
    return _ASKED[type(operation)].bounds


def encode_request(operation: Operation[Any], opens: Opening | None = None, file_bytes: int | None = None) -> bytes:
    """Return a request as it goes over the wire before the bytes of the file that comes with it."""
    kind = _BY_TYPE[type(operation)]
    body: Body = {"operation": kind.name, "with": kind.encode(operation)}
    file_sizes = [] if file_bytes is None else [file_bytes]
    if opens is None:
        return head_of(body, file_sizes)
    recipe = opens.recipe.encode()
    sizes = [len(recipe), len(opens.names), *file_sizes]
    return head_of({**body, "opens": opens.format}, sizes) + recipe + opens.names


def decode_request(frame: Frame) -> Request:
    """Return the request that the owner has sent; it is not checked, for a child trusts its owner."""
    body, attached = frame
    operation: AnyOperation = _BY_NAME[body["operation"]].decode(body["with"])
    if "opens" not in body:
        return Request(operation, None, b"".join(attached))
    recipe, names, file = attached
    return Request(operation, Opening(Format(body["opens"]), Recipe.decode(recipe), names), file)


def encode_answer(answer: Answer, *, recycle: bool) -> Frame:
    """Return an answer as it goes over the wire."""
    kind = _BY_TYPE[type(answer)]
    # The fields hold values of JSON already.
    told = {name: getattr(answer, name) for name in kind.fields}
    attached: Sequence[bytes] = getattr(answer, "attached", ())
    return Frame({"answer": kind.name, "with": told, "recycle": recycle}, attached)


def decode_answer(operation: Operation[A], frame: Frame, *, may_be_missing: bool = True) -> Said[A]:
    """Return what a child says to an operation; `ValueError` when that is no answer to it."""
    body, attached = frame
    match body:
        case {"answer": str(name), "with": {} as told, "recycle": bool(recycle), **others} if not others:
            pass
        case _:
            message = f"an object with {', '.join(sorted(body)[:5]) or 'nothing'} in it"
            raise ValueError(message)
    kind = _BY_NAME.get(name)
    expected = _ASKED[type(operation)].answer
    if kind is None or kind.type not in (expected, *_ALWAYS) or (kind.type is Missing and not may_be_missing):
        message = f"{name[:100]!r} is no answer to {operation.name}"
        raise ValueError(message)
    told = {**told, "attached": attached} if kind.has_attached or attached else told
    answer = kind.decode(told)
    if kind.type is expected and not operation.is_answered_by(answer):
        message = f"{name} is no answer to this {operation.name}"
        raise ValueError(message)
    return Said(answer, recycle)
