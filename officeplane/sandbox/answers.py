"""Answers: what a child may say.

A child has read what anybody may have sent, so its answers are not trusted: the type of
each field says how pydantic checks it before anything else looks at it. An operation that
cannot be carried out is answered by one of the five refusals; each has an error in domain
words.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, Strict

from officeplane.domain.document import Format, InvalidEditError, UnsupportedDocumentError
from officeplane.domain.errors import NodeNotFoundError, TooLargeToShowError
from officeplane.domain.warning import WARNINGS_MAX
from officeplane.formats.kept_links import Kept
from officeplane.formats.properties import TITLE_MAX
from officeplane.formats.shown import SHOWN_BYTES_MAX

_SENTENCES_MAX: Final = 256 * 1024

A = TypeVar("A")


class _Told(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Node(_Told):
    id: str
    kind: str
    text: str
    marks: Annotated[dict[str, int], Field(max_length=100)]
    children: Annotated[list["_Node"], FailFast()]


class _Loss(_Told):
    kind: Annotated[str, Field(max_length=100)]
    nodeId: Annotated[str, Field(max_length=1_000)] = ""  # noqa: N815 - as JSON has it
    name: Annotated[str, Field(max_length=1_000)] = ""
    times: int


class _Conflict(_Told):
    nodeId: Annotated[str, Field(max_length=1_000)]  # noqa: N815 - as JSON has it
    base: Annotated[str, Field(max_length=1_000)] | None
    head: Annotated[str, Field(max_length=1_000)] | None
    upload: Annotated[str, Field(max_length=1_000)] | None
    detail: Annotated[str, Field(max_length=10_000)]


class _Facts(_Told):
    losses: Annotated[list[_Loss], Field(max_length=WARNINGS_MAX), FailFast()] = []
    nodeId: Annotated[str, Field(max_length=1_000)] = ""  # noqa: N815 - as JSON has it
    nearest: Annotated[str, Field(max_length=1_000)] = ""
    conflicts: Annotated[list[_Conflict], Field(max_length=WARNINGS_MAX), FailFast()] = []
    times: int = 0


def _shaped_as(model: type[_Told]) -> AfterValidator:
    """Have an object checked against a model; the object itself is kept, not the model."""

    def check(value: Mapping[str, Any]) -> Mapping[str, Any]:
        model.model_validate(value)
        return value

    return AfterValidator(check)


_Text = Annotated[str, Strict(), Field(max_length=_SENTENCES_MAX)]
_Object = dict[Annotated[str, Strict()], Any]
# The first error is enough: a list of all of them takes many times the memory of what was sent.
_Objects = Annotated[list[_Object], FailFast()]


class _Answer:
    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class Admitted(_Answer):
    """A file that may come in, and where it is best cut into pieces."""

    format: Format
    cuts: Annotated[list[Annotated[int, Strict(), Field(ge=0)]], Field(max_length=20_000), FailFast()]
    title: Annotated[str, Strict(), Field(max_length=TITLE_MAX)]


@dataclass(frozen=True, slots=True)
class Blank(_Answer):
    """An empty document's file."""

    attached: Annotated[list[bytes], Field(min_length=1, max_length=1)]

    @property
    def file(self) -> bytes:
        """The file's bytes."""
        return self.attached[0]


@dataclass(frozen=True, slots=True)
class Outline(_Answer):
    """A document's nodes as JSON has them."""

    nodes: Annotated[list[Annotated[_Object, _shaped_as(_Node)]], FailFast()]


@dataclass(frozen=True, slots=True)
class Text(_Answer):
    """What a document says."""

    attached: Annotated[list[bytes], Field(min_length=1, max_length=1)]

    @classmethod
    def of(cls, text: str) -> "Text":
        """Return the answer that has this text."""
        # A cell may hold one half of a surrogate pair, which strict UTF-8 refuses.
        return cls([text.encode("utf-8", "surrogatepass")])

    @property
    def text(self) -> str:
        """The text; bytes that are none are replaced by a sign that says so."""
        return _decoded(self.attached[0])


_Place = Annotated[int, Strict(), Field(ge=0, le=SHOWN_BYTES_MAX)]


@dataclass(frozen=True, slots=True)
class Items(_Answer):
    """A part of what was asked for, and the place at which the next begins, if there is more."""

    items: _Objects
    next: _Place | None


@dataclass(frozen=True, slots=True)
class TextPart(_Answer):
    """A part of what a document says, and the place at which the next begins, if there is more."""

    next: _Place | None
    attached: Annotated[list[bytes], Field(min_length=1, max_length=1)]

    @property
    def text(self) -> str:
        """The text; bytes that are none are replaced by a sign that says so."""
        return _decoded(self.attached[0])


@dataclass(frozen=True, slots=True)
class PictureBytes(_Answer):
    """The bytes of a picture, whatever they are."""

    attached: Annotated[list[bytes], Field(min_length=1, max_length=1)]

    @property
    def content(self) -> bytes:
        """The bytes."""
        return self.attached[0]


@dataclass(frozen=True, slots=True)
class KeptTold(_Answer):
    """What a file has in it that only the policy `standard` lets in."""

    kinds: Annotated[list[Kept], Field(max_length=len(Kept)), FailFast()]


@dataclass(frozen=True, slots=True)
class Represented(_Answer):
    """A document as something else than its file."""

    attached: Annotated[list[bytes], Field(min_length=1, max_length=1)]

    @property
    def content(self) -> bytes:
        """The bytes of it."""
        return self.attached[0]


@dataclass(frozen=True, slots=True)
class Compared(_Answer):
    """What changed from one state to another, as JSON has it."""

    difference: _Object


@dataclass(frozen=True, slots=True)
class Changed(_Answer):
    """Which of the nodes that edits aim at are not what they were."""

    node_ids: Annotated[list[Annotated[str, Strict()]], FailFast()]


@dataclass(frozen=True, slots=True)
class Matched(_Answer):
    """What to call the nodes of a file: bytes that only a child reads again."""

    attached: Annotated[list[bytes], Field(min_length=1, max_length=1)]

    @property
    def names(self) -> bytes:
        """The names; nothing where the file's own are the right ones."""
        return self.attached[0]


@dataclass(frozen=True, slots=True)
class Previewed(_Answer):
    """What edits would return and change."""

    results: _Objects
    difference: _Object


@dataclass(frozen=True, slots=True)
class Applied(_Answer):
    """What edits have returned, and what they have made: a recipe, and the pieces that the state before had not."""

    results: _Objects
    title: Annotated[str, Strict(), Field(max_length=TITLE_MAX)] | None
    """What the file calls itself, if that may have changed."""
    attached: Annotated[list[bytes], Field(min_length=1)]

    @property
    def recipe(self) -> bytes:
        """How the file is put together now, as it is stored."""
        return self.attached[0]

    @property
    def pieces(self) -> list[bytes]:
        """The pieces that are new."""
        return self.attached[1:]


@dataclass(frozen=True, slots=True)
class Invalid(_Answer):
    """A refusal: an edit can never work on this document; which one, if there were several."""

    message: _Text
    facts: Annotated[_Object, _shaped_as(_Facts)]
    index: Annotated[int, Strict(), Field(ge=0)] | None = None

    @property
    def error(self) -> InvalidEditError:
        """The refusal in domain words."""
        return InvalidEditError(self.message, self.facts)


@dataclass(frozen=True, slots=True)
class Unsupported(_Answer):
    """A refusal: the file is not one that can be opened here."""

    reason: _Text
    message: _Text

    @property
    def error(self) -> UnsupportedDocumentError:
        """The refusal in domain words."""
        return UnsupportedDocumentError(self.reason, self.message)


@dataclass(frozen=True, slots=True)
class TooLarge(_Answer):
    """A refusal: the document has more text or nodes than may be shown."""

    @property
    def error(self) -> TooLargeToShowError:
        """The refusal in domain words."""
        return TooLargeToShowError()


@dataclass(frozen=True, slots=True)
class NoNode(_Answer):
    """A refusal: the document has no node of this id."""

    node_id: _Text
    nearest: _Text | None

    @property
    def error(self) -> NodeNotFoundError:
        """The refusal in domain words."""
        return NodeNotFoundError(self.node_id, self.nearest)


@dataclass(frozen=True, slots=True)
class Missing(_Answer):
    """A refusal for now: the state is not open here, and has to be sent first."""

    state: Annotated[str, Strict(), Field(max_length=64)]

    @property
    def error(self) -> UnsupportedDocumentError:
        """The refusal in domain words, once the state is still missing after it was sent."""
        return UnsupportedDocumentError("too_complex", "the documents do not fit into memory together")


@dataclass(frozen=True, slots=True)
class Broke(_Answer):
    """An error that nobody expected, and where it came from."""

    message: _Text
    stack: _Text


Refused: TypeAlias = Invalid | Unsupported | TooLarge | NoNode | Missing
Answer: TypeAlias = (
    Admitted
    | Blank
    | Outline
    | Text
    | Items
    | TextPart
    | PictureBytes
    | KeptTold
    | Represented
    | Compared
    | Changed
    | Matched
    | Previewed
    | Applied
    | Refused
    | Broke
)


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text.decode("utf-8", "replace")


def accepted(answer: A | Refused) -> A:
    """Return an answer; a refusal is raised as the error that it is."""
    match answer:
        case Invalid() | Unsupported() | TooLarge() | NoNode() | Missing():
            raise answer.error
        case _:
            return answer
