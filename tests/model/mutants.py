"""Mutants: the product with one guard removed, for the length of one search. Each has to be found.

What is changed is the product's own: the text of a query, an object of the schema, or one function. A mutant
that no longer fits the product says so.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, NamedTuple

import asyncpg

from officeplane.domain.agent_claim import Answer, KnownClaim, Verb
from officeplane.domain.retry import RetryState
from officeplane.store import agents as ledger_of_agents
from officeplane.store.queries import Query, load


class Text(NamedTuple):
    """A part of a query that is another."""

    noun: str
    query: str
    old: str
    new: str


class Schema(NamedTuple):
    """Something of the schema that is missing, and how it comes back."""

    away: str
    back: str


class Patch(NamedTuple):
    """A function that is another."""

    owner: Any
    name: str
    value: Any


class Mutant(NamedTuple):
    """What is broken, in a sentence, by which changes, and in which world it shows."""

    story: str
    world: str
    changes: Collection[Text | Schema | Patch]


_SAME_CLAIM: Final = " AND locked.current_claim = locked.claim_id\n"
_LAPSED: Final = "\n       AND (NOT :only_lapsed::boolean OR locked.lease_until <= clock_timestamp())"


_ANSWER_TO: Final[Callable[[KnownClaim, Verb], Answer]] = KnownClaim.answer_to


def _first_answer(claim: KnownClaim, verb: Verb) -> Answer:
    return _ANSWER_TO(claim, verb if claim.verb is None else claim.verb)


async def _no_key(_executor: object, _agent_id: object, _key: object) -> None:
    return None


MUTANTS: Final[Mapping[str, Mutant]] = {
    "settle_without_claim": Mutant(
        "whoever settles a running task may, whether the attempt is his or not",
        "again",
        [Text("settlements", "settle", _SAME_CLAIM, "\n")],
    ),
    "reap_without_lease": Mutant(
        "the reaper ends what it had read, although it was renewed since",
        "again",
        [Text("settlements", "settle", _LAPSED, "")],
    ),
    "late_without_attempt": Mutant(
        "who comes late completes a task that others have begun anew since",
        "again",
        [Text("agent_claims", "take_up", " AND attempt = :attempt::integer", " AND :attempt::integer > 0")],
    ),
    "lane_without_index": Mutant(
        "who comes late does not look whether somebody is in the lane, and the unique index of occupants is gone",
        "lane",
        [
            Text("agent_claims", "take_up", "document_id IS NULL OR NOT EXISTS", "true OR NOT EXISTS"),
            Schema("DROP INDEX tasks_occupant", ""),
        ],
    ),
    "replay_whatever_the_verb": Mutant(
        "a verb on a claim that has ended is given the answer to whatever ended it",
        "small",
        [Patch(KnownClaim, "answer_to", _first_answer)],
    ),
    "decline_ignored": Mutant(
        "an agent is offered what it has just declined",
        "declined",
        [Text("offers", "look", "t.id NOT IN (SELECT task_id FROM declined)", "true")],
    ),
    "costs_replaced": Mutant(
        "what an agent says last is what was spent",
        "books",
        [Text("agent_claims", "book", "greatest(c.cost_micros, s.cost)", "coalesce(s.cost, c.cost_micros)")],
    ),
    "costs_of_the_lost_refused": Mutant(
        "what was spent for a claim that has ended is nobody's",
        "books",
        [
            Text(
                "agent_claims",
                "book",
                "WHERE claim_id IN (SELECT claim_id FROM s)",
                "WHERE ended_at IS NULL AND claim_id IN (SELECT claim_id FROM s)",
            )
        ],
    ),
    "claims_never_end": Mutant(
        "the end of an attempt does not end its claim",
        "small",
        [
            Schema(
                "ALTER TABLE tasks DISABLE TRIGGER tasks_end_their_claims",
                "ALTER TABLE tasks ENABLE TRIGGER tasks_end_their_claims",
            )
        ],
    ),
    "go_on_without_claim": Mutant(
        "whoever had a task may go on with it",
        "again",
        [Text("agent_claims", "go_on", " AND claim_id = :claim_id::uuid AND state", " AND state")],
    ),
    "beats_extend_reservations": Mutant(
        "what was claimed and is not started is kept by beats",
        "small",
        [
            Text(
                "agent_claims",
                "beat",
                "CASE WHEN state IN ('RUNNING', 'VALIDATING') THEN",
                "CASE WHEN true THEN",
            )
        ],
    ),
    "reservations_kept": Mutant(
        "what was claimed and is not started is held for ever",
        "small",
        [Text("settlements", "lapsed", "t.state IN ('CLAIMED', 'RUNNING', 'VALIDATING')", "t.state = 'RUNNING'")],
    ),
    "key_ignored": Mutant(
        "a request that is repeated is a new one",
        "small",
        [Patch(ledger_of_agents, "claimed_under", _no_key)],
    ),
    "more_than_wanted": Mutant(
        "nobody counts what an agent has",
        "pair",
        [Text("agents", "count_held", "ended_at IS NULL", "false")],
    ),
    "poison_of_one": Mutant(
        "one agent that fails three times makes a poison pill",
        "poison",
        [Patch(RetryState, "is_beyond_agents", property(lambda used: used.attempts_charged >= 3))],
    ),
    "poison_ignored": Mutant(
        "any number of agents may fail at a task",
        "poison",
        [Patch(RetryState, "is_beyond_agents", property(lambda _: False))],
    ),
}


@asynccontextmanager
async def planted(mutant: Mutant, database_url: str) -> AsyncGenerator[None, None]:
    """Break the product for as long as this block lasts."""
    connection = await asyncpg.connect(database_url)
    try:
        schemas = [change for change in mutant.changes if isinstance(change, Schema)]
        back = [one.back or await _definition(connection, one.away) for one in schemas]
        with (
            _texts([one for one in mutant.changes if isinstance(one, Text)]),
            _patches([one for one in mutant.changes if isinstance(one, Patch)]),
        ):
            for one in schemas:
                await connection.execute(one.away)
            try:
                yield
            finally:
                for text in back:
                    await connection.execute(text)
    finally:
        await connection.close()


async def _definition(connection: "asyncpg.Connection[asyncpg.Record]", dropped: str) -> str:
    definition: str = await connection.fetchval("SELECT pg_get_indexdef($1::regclass)", dropped.rpartition(" ")[2])
    return definition


@contextmanager
def _texts(changes: Collection[Text]) -> Generator[None, None, None]:
    before = [(change, load(change.noun)[change.query]) for change in changes]
    try:
        for change, query in before:
            if change.old not in query.source:
                raise AssertionError(f"the mutant is stale: {query.name} does not have {change.old!r}")
            load(change.noun)[change.query] = Query(query.name, query.source.replace(change.old, change.new))
        yield
    finally:
        for change, query in before:
            load(change.noun)[change.query] = query


@contextmanager
def _patches(changes: Collection[Patch]) -> Generator[None, None, None]:
    before = [(change, getattr(change.owner, change.name)) for change in changes]
    try:
        for change, _ in before:
            setattr(change.owner, change.name, change.value)
        yield
    finally:
        for change, value in before:
            setattr(change.owner, change.name, value)
