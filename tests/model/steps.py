"""States, what is done in them, and what that leads to."""

import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from officeplane.domain.agent_claim import Answer
from officeplane.domain.errors import OfficePlaneError
from officeplane.runtime import Runtime, WorkerServices
from officeplane.services.agents.heartbeats import Heard
from tests.model.rows import Fact, Tables, short
from tests.model.stepped import Turn
from tests.workbench import Workbench


class Flight(NamedTuple):
    """An operation that a process is in the midst of: its name, and what its transactions were answered so far."""

    deed: str
    turns: str
    """The answers as a text, which tells flights apart."""


class State(NamedTuple):
    """Everything that decides what can happen next."""

    rows: str
    """What the ledger holds."""
    flights: tuple[Flight, ...] = ()
    """What processes are in the midst of."""
    told: frozenset[str] = frozenset()
    """What was told to those outside, and may not be taken back."""


class Site(NamedTuple):
    """The product as a deed has it at hand: an API process, and a worker who does the chores."""

    runtime: Runtime
    worker: WorkerServices


@dataclass(frozen=True, slots=True)
class Deed:
    """An operation of the product, by whom it is carried out, and what to make of its answer."""

    who: str
    what: str
    run: Callable[[Site], Awaitable[object]]
    about: str | None = None
    """The claim that it is about."""
    verb: str = ""
    """What is done with that."""
    cost: int | None = None
    """What its agent says that it has cost."""
    key: str = ""
    """The name of a request to claim."""
    is_left: bool = True
    """Whether its process may be put aside before its end."""
    told: Callable[[object], str | None] = lambda _answer: None
    """What its answer tells for ever, if it is heard."""

    @property
    def name(self) -> str:
        return f"{self.who} {self.what}"


@dataclass(frozen=True, slots=True)
class Shift:
    """Time that passes, without anybody doing anything: the tables are changed in place; False if it cannot be."""

    what: str
    pass_by: Callable[[Tables], bool]


class Link(NamedTuple):
    """How a state was reached."""

    before: State | None
    who: str
    what: str
    answer: str
    after: State


class Violation(NamedTuple):
    """A law that was broken, how, and the way there."""

    law: str
    what: str
    way: Sequence[Link] = ()


class Effect(NamedTuple):
    """What a transaction of a deed leads to."""

    rows: str
    turns: tuple[Turn, ...] | None
    """What all its transactions were answered, if others are to come; None when it is over."""
    said: str
    """The answer, for people."""
    told: str | None
    broken: Violation | None


class Step(NamedTuple):
    """A step as laws see it."""

    by: Deed | None
    """Who did something; None when only time has passed, or a process has died."""
    before: Tables
    after: Tables
    answer: object
    is_over: bool
    is_whole: bool = False
    """Whether all of an operation was carried out, without anybody between its transactions."""
    events: Sequence[tuple[str, str]] = ()


Law: TypeAlias = Callable[[Step], str | None]


class World(Protocol):
    """A tiny installation: what there is in the beginning, and who may do what in it."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def story(self) -> str:
        """What there is in it."""
        ...

    @property
    def processes(self) -> int:
        """In the midst of how many operations processes can be."""
        ...

    @property
    def laws(self) -> Collection[Law]:
        """What must hold in every step."""
        ...

    async def build(self, bench: Workbench) -> None:
        """Fill the empty ledger."""
        ...

    def deeds(self, tables: Tables, told: frozenset[str]) -> Sequence[Deed]:
        """Return what can be begun."""
        ...

    def shifts(self, tables: Tables) -> Sequence[Shift]:
        """Return how time may pass."""
        ...


def as_text(tables: Tables) -> str:
    """Return the tables as the text that tells states apart."""
    return json.dumps(tables, sort_keys=True, separators=(",", ":"))


def as_tables(rows: str) -> Tables:
    """Return the tables that a text stands for."""
    tables: Tables = json.loads(rows)
    return tables


def task_of(tables: Tables, task_id: str) -> Fact:
    """Return the row of a task."""
    return next(row for row in tables["tasks"] if row["id"] == task_id)


def claim_of(tables: Tables, claim_id: str) -> Fact:
    """Return the row of a claim."""
    return next(row for row in tables["agent_claims"] if row["claim_id"] == claim_id)


def said(answer: object) -> str:
    """Return an answer in a line, for people."""
    match answer:
        case None:
            return ""
        case OfficePlaneError():
            return f"refused: {answer.code}"
        case Exception():
            return f"{type(answer).__name__}: {answer}"
        case Answer(state=state, directive=directive, late=late):
            return f"{state or directive}{', late' if late else ''}"
        case Heard(directive=directive):
            return directive
        case _:
            return short(str(answer))
