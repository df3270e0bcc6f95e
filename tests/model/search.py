"""The search: breadth first, so that what it finds it finds on the shortest way.

What a transaction does depends on the ledger and on the operation alone, so each pair is carried out
once, however many states have it: the rest of a search is arithmetic.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple, cast

import asyncpg

from tests.model.rows import Reading, Rows, Tables
from tests.model.stepped import LeftAlone, Row, SteppedLedger, Turn, each
from tests.model.steps import Deed, Effect, Flight, Link, Site, State, Step, Violation, World, as_tables, as_text, said

VACUUM_EVERY: Final = 400
"""After how many states what their transactions left behind is removed: none of them was committed."""


@dataclass
class Found:
    """What a search has seen."""

    states: int = 0
    steps: int = 0
    transactions: int = 0
    ledgers: int = 0
    violation: Violation | None = None
    links: dict[State, Link] = field(default_factory=dict[State, Link])

    def seen(self) -> list[Tables]:
        """Return what the ledger held, each once."""
        return [as_tables(rows) for rows in {state.rows: None for state in self.links}]


class _Choice(NamedTuple):
    """An operation that is begun, to be left or to be carried out to its end, or gone on with."""

    deed: Deed
    flight: Flight | None = None
    is_whole: bool = False

    @property
    def key(self) -> tuple[str, str, bool]:
        return self.deed.name, self.flight.turns if self.flight else "", self.is_whole


class Search:
    """One search through one world."""

    def __init__(
        self,
        world: World,
        site: Site,
        ledger: SteppedLedger,
        connection: "asyncpg.Connection[asyncpg.Record]",
        rows: Rows,
    ) -> None:
        self._world = world
        self._site = site
        self._ledger = ledger
        self._connection = connection
        self._rows = rows
        self._effects: dict[str, dict[tuple[str, str, bool], Effect]] = {}
        # By name: what its transactions were answered, of each operation that somebody is in the midst of.
        self._turns: dict[Flight, tuple[Turn, ...]] = {}
        self._deeds: dict[str, Deed] = {}
        self._begun: dict[tuple[str, frozenset[str]], Sequence[Deed]] = {}
        self._shifts: dict[str, Sequence[tuple[str, str]]] = {}

    async def run(self, first: str, *, states_max: int) -> Found:
        """Search until every state was seen, a law is broken, or there are too many."""
        found = Found()
        beginning = State(first)
        found.links[beginning] = Link(None, "", "", "", beginning)
        layer = [beginning]
        while layer and found.violation is None:
            by_rows: dict[str, list[State]] = defaultdict(list)
            for state in layer:
                by_rows[state.rows].append(state)
            layer = list[State]()
            for rows, states in by_rows.items():
                await self._carry_out(rows, states, found)
                for state in states:
                    layer += self._next(state, found)
                    if found.violation is not None:
                        break
                if found.violation is not None:
                    break
            if len(found.links) > states_max:
                raise AssertionError(f"{self._world.name} has more than {states_max} states: bound it")
        found.states = len(found.links)
        found.ledgers = len({state.rows for state in found.links})
        return found

    def _next(self, state: State, found: Found) -> list[State]:
        """Take every step from a state, look whether the laws hold, and return the states that are new."""
        new: list[State] = []
        for link, broken in self._steps(state):
            found.steps += 1
            if link.after not in found.links:
                found.links[link.after] = link
                new.append(link.after)
            if broken is not None:
                found.violation = broken._replace(way=[*_way_to(state, found.links), link])
                break
        return new

    def _steps(self, state: State) -> Iterator[tuple[Link, Violation | None]]:
        for choice in self._possible(state):
            deed, flight, _ = choice
            effect = self._effects[state.rows][choice.key]
            flights = [one for one in state.flights if one is not flight]
            if effect.turns is not None:
                on = Flight(deed.name, _text(effect.turns))
                self._turns[on] = effect.turns
                flights.append(on)
            told = state.told if effect.told is None else state.told | {effect.told}
            after = State(effect.rows, tuple(sorted(flights)), told)
            what = deed.what + (" (goes on)" if flight else "")
            yield Link(state, deed.who, what, effect.said, after), effect.broken
        for flight in state.flights:
            after = state._replace(flights=tuple(one for one in state.flights if one is not flight))
            yield Link(state, "a process", f"dies: {flight.deed}", "", after), None
        for what, rows in self._shifted(state.rows):
            yield Link(state, "time", what, "", state._replace(rows=rows)), None

    def _possible(self, state: State) -> Iterator[_Choice]:
        for flight in state.flights:
            yield _Choice(self._deeds[flight.deed], flight)
        # Who comes between those who are in the midst of something does all of it at once.
        has_room = len(state.flights) < self._world.processes
        for deed in self._deeds_in(state.rows, state.told):
            yield _Choice(deed, is_whole=not (has_room and deed.is_left))

    def _deeds_in(self, rows: str, told: frozenset[str]) -> Sequence[Deed]:
        if (rows, told) not in self._begun:
            deeds = self._world.deeds(as_tables(rows), told)
            self._deeds |= {deed.name: deed for deed in deeds}
            self._begun[rows, told] = deeds
        return self._begun[rows, told]

    def _shifted(self, rows: str) -> Sequence[tuple[str, str]]:
        if rows not in self._shifts:
            shifted: list[tuple[str, str]] = []
            for shift in self._world.shifts(as_tables(rows)):
                tables = as_tables(rows)
                if shift.pass_by(tables):
                    shifted.append((shift.what, as_text(tables)))
            self._shifts[rows] = shifted
        return self._shifts[rows]

    async def _carry_out(self, rows: str, states: Sequence[State], found: Found) -> None:
        """Carry out, on a ledger as it is in these states, what can be and was not."""
        known = self._effects.setdefault(rows, {})
        wanted = {choice.key: choice for state in states for choice in self._possible(state) if choice.key not in known}
        if not wanted:
            return
        tables = as_tables(rows)
        outer = self._connection.transaction()
        await outer.start()
        try:
            await self._rows.write(self._connection, tables)
            await self._connection.execute("SAVEPOINT here")
            for one in wanted.values():
                found.transactions += 1
                known[one.key] = await self._effect(one, tables)
        finally:
            await outer.rollback()
        if len(self._effects) % VACUUM_EVERY == 0:
            await self._connection.execute(
                "VACUUM tasks, task_failures, agents, agent_claims, agent_claim_keys, events"
            )

    async def _effect(self, choice: _Choice, before: Tables) -> Effect:
        is_over, answer, reading = await self._tried(choice, careful=False)
        if reading is None:
            is_over, answer, reading = await self._tried(choice, careful=True)
        assert reading is not None
        renamed, deed = reading.renamed, choice.deed
        answer = _renamed(answer, renamed)
        step = Step(deed, before, reading.tables, answer, is_over, choice.is_whole, reading.events)
        return Effect(
            as_text(reading.tables),
            None if is_over else (*self._turns_of(choice), *_renamed(tuple(map(tuple, self._ledger.turns)), renamed)),
            said(answer) if is_over else "…",
            deed.told(answer) if is_over else None,
            self._broken(step),
        )

    def _turns_of(self, choice: _Choice) -> tuple[Turn, ...]:
        return () if choice.flight is None else self._turns[choice.flight]

    async def _tried(self, choice: _Choice, *, careful: bool) -> tuple[bool, object, Reading | None]:
        """Carry out a transaction; no reading: it was to be rolled back."""
        self._ledger.begin(self._turns_of(choice), whole=choice.is_whole, careful=careful)
        is_over, answer = True, None
        try:
            answer = await choice.deed.run(self._site)
        except LeftAlone:
            is_over = False
        except Exception as error:  # noqa: BLE001 - a refusal is an answer; laws say which are none
            answer = error
        is_whole = careful or not self._ledger.was_undone
        reading = await self._rows.read(self._connection) if is_whole else None
        await self._connection.execute("ROLLBACK TO here")
        return is_over, answer, reading

    def _broken(self, step: Step) -> Violation | None:
        for law in self._world.laws:
            if (what := law(step)) is not None:
                return Violation((law.__doc__ or law.__name__).rstrip("."), what)
        return None


def _way_to(state: State, links: Mapping[State, Link]) -> list[Link]:
    way: list[Link] = []
    while (link := links[state]).before is not None:
        way.append(link)
        state = link.before
    return way[::-1]


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return what was told with claims called as they are always."""
    if isinstance(value, Row):
        return Row({column: _renamed(one, names) for column, one in value.items()})
    if isinstance(value, uuid.UUID):
        return uuid.UUID(names.get(str(value), str(value)))
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, list | tuple):
        many = [_renamed(one, names) for one in each(value)]
        kind: Any = type(cast("object", value))
        # A named tuple is made of its fields, the others of what is in them.
        return kind(*many) if hasattr(kind, "_fields") else kind(many)
    return value


def _text(value: Any) -> str:
    """Return a text of answers that is the same whenever they were given."""
    if isinstance(value, Row):
        return "{" + ", ".join(f"{column}: {_text(one)}" for column, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_text(one) for one in each(value)) + "]"
    if isinstance(value, datetime):
        return "a time"
    return "a number" if isinstance(value, float) else repr(value)
