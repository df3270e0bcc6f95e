"""Operations: what a sandboxed child is asked for."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Generic, Self, TypeAlias, TypeVar

from pydantic import ConfigDict, PlainSerializer

from officeplane.domain.document import Format
from officeplane.domain.representation import RepresentationWanted
from officeplane.domain.revision import Recipe, state_of
from officeplane.formats.excel.cell_reading import CellsWanted
from officeplane.formats.reading.differing import DiffWanted
from officeplane.formats.reading.finding import FindWanted
from officeplane.formats.reading.listing import ListWanted
from officeplane.formats.reading.outlining import OutlineWanted
from officeplane.formats.reading.showing import NodeWanted
from officeplane.formats.reading.telling import TextWanted
from officeplane.sandbox.answers import (
    Admitted,
    Applied,
    Blank,
    Changed,
    Compared,
    Items,
    KeptTold,
    Matched,
    Outline,
    PictureBytes,
    Previewed,
    Represented,
    Text,
    TextPart,
)

A_co = TypeVar("A_co", covariant=True)


class Operation(Generic[A_co]):
    """Something that a child is asked for, which answers it with an `A_co`, or refuses it.

    A state of its document is named by the hash of the recipe that puts the file together.
    """

    __slots__ = ()
    __pydantic_config__ = ConfigDict(extra="forbid")

    is_about_a_document: ClassVar[bool] = True
    """Whom its child serves: one document of one space; or nobody else, for it is born for this and ends with it."""

    @property
    def name(self) -> str:
        """What it is called over the wire and in logs."""
        return type(self).__name__

    def is_answered_by(self, answer: object) -> bool:  # noqa: ARG002 - some subclasses look at it
        """Tell whether an answer of the right kind is one to this."""
        return True

    def rest_after(self, answer: object) -> Self | None:  # noqa: ARG002 - one subclass looks at it
        """Return what is still to be answered after an answer, if anything is."""
        return None


@dataclass(frozen=True, slots=True)
class Order:
    """One edit, as a child is told of it."""

    task_type: str
    payload_json: str
    task_id: str
    """The ids of what the edit makes are derived from it."""
    author: str
    at: Annotated[datetime, PlainSerializer(datetime.isoformat)]
    key: str | None = None
    """The name by which later edits of the same batch refer to its result."""


Orders: TypeAlias = tuple[Order, ...]
"""The edits that become one revision together; if one cannot work, none of them is made."""


@dataclass(frozen=True, slots=True)
class Check(Operation[Admitted]):
    """Tell whether the gate admits the file that comes with the request, and belongs to no document yet."""

    is_about_a_document: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class MakeBlank(Operation[Blank]):
    """Make an empty document."""

    is_about_a_document: ClassVar[bool] = False
    format: Format
    title: str | None


@dataclass(frozen=True, slots=True)
class ReadOutline(Operation[Outline]):
    """Tell the nodes of a state."""

    state: str


@dataclass(frozen=True, slots=True)
class ReadText(Operation[Text]):
    """Tell what a state says."""

    state: str


@dataclass(frozen=True, slots=True)
class ReadNodes(Operation[Items]):
    """Tell the nodes of a state as outlines list them, as many as there is room for."""

    state: str
    wanted: OutlineWanted


@dataclass(frozen=True, slots=True)
class ReadNode(Operation[Items]):
    """Tell what one node of a state says, and what is around it and in it."""

    state: str
    wanted: NodeWanted

    def is_answered_by(self, answer: object) -> bool:
        """Tell whether it is one node."""
        return isinstance(answer, Items) and len(answer.items) == 1


@dataclass(frozen=True, slots=True)
class FindText(Operation[Items]):
    """Tell where in a state a text stands."""

    state: str
    wanted: FindWanted


@dataclass(frozen=True, slots=True)
class ReadTextPart(Operation[TextPart]):
    """Tell a part of what a state says."""

    state: str
    wanted: TextWanted


@dataclass(frozen=True, slots=True)
class ListNodes(Operation[Items]):
    """Tell the changes, comments, pictures or sheets of a state."""

    state: str
    wanted: ListWanted


@dataclass(frozen=True, slots=True)
class ReadPicture(Operation[PictureBytes]):
    """Tell the bytes of one picture of a state."""

    state: str
    node_id: str


@dataclass(frozen=True, slots=True)
class TellKept(Operation[KeptTold]):
    """Tell what a state has in it that only the policy `standard` lets in."""

    state: str


@dataclass(frozen=True, slots=True)
class Represent(Operation[Represented]):
    """Tell a state as something else than its file."""

    state: str
    wanted: RepresentationWanted


@dataclass(frozen=True, slots=True)
class ReadCells(Operation[Items]):
    """Tell what cells of a state hold."""

    state: str
    wanted: CellsWanted


@dataclass(frozen=True, slots=True)
class ComparePart(Operation[Items]):
    """Tell a part of what changed from one state to another."""

    before: str
    after: str
    wanted: DiffWanted


@dataclass(frozen=True, slots=True)
class Compare(Operation[Compared]):
    """Tell what changed from one state to another."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Match(Operation[Matched]):
    """Tell what to call the nodes of a file that follows a state, so that those that are the same keep their ids."""

    head: str
    upload: str
    seed: str
    """New ids are derived from it."""
    head_is_named: bool
    """Whether the head's own file calls its nodes otherwise."""


@dataclass(frozen=True, slots=True)
class Merge(Operation[Applied]):
    """Do to the head what an upload has changed of a state, all of it or nothing."""

    base: str
    upload: str
    head: str
    task_id: str
    """The ids of what comes are derived from it."""

    def is_answered_by(self, answer: object) -> bool:
        """Tell whether there is one result, which says what was merged."""
        match answer:
            case Applied([{"merged": {"nodes": int()}}]):
                return True
            case _:
                return False


@dataclass(frozen=True, slots=True)
class FindChanged(Operation[Changed]):
    """Tell which nodes that edits of one state aim at look otherwise in another."""

    base: str
    head: str
    orders: Orders


@dataclass(frozen=True, slots=True)
class Preview(Operation[Previewed]):
    """Tell what edits would do to a state, and leave it as it is."""

    state: str
    orders: Orders

    def is_answered_by(self, answer: object) -> bool:
        """Tell whether there is a result for each edit."""
        return isinstance(answer, Previewed) and len(answer.results) == len(self.orders)


@dataclass(frozen=True, slots=True)
class Apply(Operation[Applied]):
    """Make revisions: the first from a state, each other one from what the one before has made.

    Each revision is answered by itself; after one that is refused no other is made.
    """

    state: str | None
    """None: what was made last."""
    revisions: tuple[Orders, ...]

    def is_answered_by(self, answer: object) -> bool:
        """Tell whether there is a result for each edit of the first revision."""
        return isinstance(answer, Applied) and len(answer.results) == len(self.revisions[0])

    def rest_after(self, answer: object) -> Self | None:
        """Return the revisions that are still to be made after the first of them."""
        if not isinstance(answer, Applied) or len(self.revisions) == 1:
            return None
        return type(self)(None, self.revisions[1:])


AnyOperation: TypeAlias = (
    Check
    | MakeBlank
    | ReadOutline
    | ReadText
    | ReadNodes
    | ReadNode
    | FindText
    | ReadTextPart
    | ListNodes
    | ReadPicture
    | TellKept
    | Represent
    | ReadCells
    | ComparePart
    | Compare
    | Match
    | Merge
    | FindChanged
    | Preview
    | Apply
)


@dataclass(frozen=True, slots=True)
class Opening:
    """The format and the recipe of a file that comes with a request and is to be kept open, and its nodes' names."""

    format: Format
    recipe: Recipe
    names: bytes = b""

    @property
    def state(self) -> str:
        """What it is called where it is open."""
        return state_of(self.recipe, self.names)
