"""Principals: who calls, what it may do, and what of the ledger it may see."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from officeplane.domain.errors import DocumentNotFoundError, ForbiddenError, OutsideError
from officeplane.domain.ids import DocumentId, KeyId
from officeplane.domain.narrowing import ALL_AFTER, NOT_NARROWED, WITHOUT_DOCUMENT, Entries, Narrowing, fits
from officeplane.domain.quota import UNLIMITED, Quotas
from officeplane.domain.space import DEFAULT, Space, bare, qualified


class Scope(StrEnum):
    """What a caller may be allowed to do."""

    READ = "read"
    """See tasks, documents, events and figures."""
    EDIT = "edit"
    """Submit tasks, change, cancel and retry one's own; upload and delete documents."""
    CONTROL = "control"
    """Do so with others' tasks, pause and resume, open and reset circuit breakers, set limits, decide about letters."""
    AGENT = "agent"
    """Claim tasks, and do with them what follows, as one of the agents that a key is for."""
    ADMIN = "admin"
    """Make and revoke keys, and everything else."""


class Kind(StrEnum):
    """How a caller is known."""

    KEY = "key"
    PERSON = "person"
    """It has logged in, in a browser."""
    LOCAL = "local"
    """It is on this machine, and needs no key."""
    ANYBODY = "anybody"
    """Nobody is asked for a key here."""
    SYSTEM = "system"
    """It is a process of the installation itself."""


class Sight(NamedTuple):
    """What of the ledger somebody may see; None: without bounds. The names are as SQL compares them."""

    space: Space | None = None
    documents: tuple[str, ...] | None = None
    task_types: tuple[str, ...] | None = None
    workers: bool = True
    """Whether it sees which worker has something: that names a host."""

    @property
    def is_narrowed(self) -> bool:
        """Whether there is anything in its space that it does not see."""
        return self.documents is not None or self.task_types is not None


EVERYTHING: Final = Sight()


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody who calls.

    It is narrowed to documents or task types by lists of names, of which each may
    end in `*`. What it does not see is not there for it.
    """

    id: str
    kind: Kind
    scopes: frozenset[Scope]
    space: Space = DEFAULT
    documents: Entries = None
    task_types: Entries = None
    most_urgent: int = 0
    """The most urgent priority that it may ask for."""
    agents: Entries = None
    """As which agents it may claim."""
    quotas: Quotas = UNLIMITED
    """What it may use, beside what its space may."""
    # Of one key, that is the same caller wherever it comes from.
    key_id: KeyId | None = field(default=None, compare=False)
    address: str | None = field(default=None, compare=False)
    """Where it calls from, if it does so over the network."""
    on_behalf_of: str | None = field(default=None, compare=False)
    """For whom it says that it does everything that it does."""

    @property
    def signature(self) -> str:
        """What stands for it where one text has to say who it was, and for whom it acted in all that it did."""
        return self.id if self.on_behalf_of is None else f"{self.id}:{self.on_behalf_of}"

    def may(self, scope: Scope) -> bool:
        """Tell whether this caller may do what needs a scope."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    @property
    def sight(self) -> Sight:
        """What of the ledger it may see."""
        if self.kind is Kind.SYSTEM:
            return EVERYTHING
        documents = None if self.documents is None else tuple(self._patterns(self.documents))
        task_types = None if self.task_types is None else tuple(map(pattern, self.task_types))
        return Sight(self.space, documents, task_types, self.sees_the_whole)

    def sees(self, document_id: DocumentId | str | None, task_type: str | None = None) -> bool:
        """Tell whether it may have to do with a task of its space that has this document and this type."""
        name = None if document_id is None else bare(document_id)
        return fits(name, self.documents) and (task_type is None or fits(task_type, self.task_types))

    def document(self, name: str) -> DocumentId:
        """Return what a document that it names is called inside; raise when it is not there for it."""
        if not self.sees(name):
            raise DocumentNotFoundError(name)
        return DocumentId(qualified(self.space, name))

    def new_document(self, name: str) -> DocumentId:
        """Return what a document that may have to be made is called inside; raise when it is none for it."""
        if not self.sees(name):
            raise OutsideError(self.id, "document", name)
        return DocumentId(qualified(self.space, name))

    def sees_type(self, task_type: str) -> bool:
        """Tell whether it may have to do with tasks of a type."""
        return fits(task_type, self.task_types)

    def check_type(self, task_type: str) -> None:
        """Raise when it may not have to do with tasks of a type."""
        if not self.sees_type(task_type):
            raise OutsideError(self.id, "task type", task_type)

    def check_whole_type(self, task_type: str) -> None:
        """Raise when it may not have to do with all tasks of a type in its space, whatever their documents."""
        self.check_type(task_type)
        if self.documents is not None:
            raise OutsideError(self.id, "all tasks of type", task_type)

    def sees_agent(self, name: str) -> bool:
        """Tell whether it may have to do with an agent."""
        return fits(name, self.agents)

    @property
    def sees_the_whole(self) -> bool:
        """Whether it may see what is no space's own: the figures of the whole installation, and where it runs."""
        return self.space == DEFAULT and not self._has_lists and self.may(Scope.CONTROL)

    @property
    def narrowing(self) -> Narrowing:
        """What of its space it may have to do with."""
        return Narrowing(self.documents, self.task_types, self.most_urgent, self.agents)

    @property
    def is_narrowed(self) -> bool:
        """Whether there is anything in its space that it may not have to do with."""
        return self.most_urgent > 0 or self._has_lists

    @property
    def is_operator(self) -> bool:
        """Whether it may do everything in the default space, and so has to do with the keys of all others."""
        return self.space == DEFAULT and self.may(Scope.ADMIN) and self.narrowing == NOT_NARROWED

    def check_urgency(self, priority: int | None, *, rises: bool) -> None:
        """Raise when it may not ask for something as urgent, or for what becomes so by itself."""
        if priority is not None and priority < self.most_urgent:
            raise OutsideError(self.id, "priority", str(priority))
        if rises and self.most_urgent > 0:
            raise OutsideError(self.id, "priority", "that rises with time")

    def check_own(self, created_by: str | None) -> None:
        """Raise when it may not change what somebody else has submitted."""
        if created_by != self.id and not self.may(Scope.CONTROL):
            raise ForbiddenError(Scope.CONTROL, self.id)

    @property
    def _has_lists(self) -> bool:
        return self.documents is not None or self.task_types is not None

    def _patterns(self, names: Sequence[str]) -> list[str]:
        return ["" if name == WITHOUT_DOCUMENT else pattern(qualified(self.space, name)) for name in names]


LOCAL: Final = Principal("local", Kind.LOCAL, frozenset(Scope))
ANYBODY: Final = Principal("anybody", Kind.ANYBODY, frozenset(Scope))
SYSTEM: Final = Principal("system", Kind.SYSTEM, frozenset(Scope))
"""A process of the installation, of which nobody has asked for what it does."""


def pattern(entry: str) -> str:
    """Return what LIKE compares with names that an entry stands for; it never fits what has no name."""
    is_open = entry.endswith(ALL_AFTER)
    name = entry[:-1] if is_open else entry
    for special in "\\%_":
        name = name.replace(special, "\\" + special)
    return name + ("%" if name else "_%") * is_open
