"""The model in small: its tiniest world, one bug that it has to find, and what it stands on."""

import asyncpg
import pytest

from tests.kept import empty
from tests.model.ground import connected, searched
from tests.model.mutants import MUTANTS, Mutant, Text, planted
from tests.model.rows import rows_of
from tests.model.search import Found
from tests.model.steps import as_text
from tests.model.trace import told
from tests.model.worlds import WORLDS


@pytest.fixture(scope="module")
async def tiny(database_url: str, redis_url: str) -> Found:
    """What there is to see in the tiniest world."""
    return await searched(WORLDS["tiny"], database_url, redis_url)


def test_in_the_tiniest_world_every_law_holds_in_every_state(tiny: Found) -> None:
    assert tiny.violation is None, told(tiny.violation)
    assert tiny.states > 100


def test_a_claim_ends_there_in_every_way_that_there_is(tiny: Found) -> None:
    ends = {(row["ended_as"], row["verb"], row["late"]) for rows in tiny.seen() for row in rows["agent_claims"]}

    assert ends == {
        (None, None, False),
        ("COMPLETED", "complete", False),
        ("COMPLETED", "complete", True),
        ("RETRYING", "fail", False),
        ("RETRYING", None, False),
        ("QUEUED", "release", False),
        ("QUEUED", None, False),
        ("CANCELLED", None, False),
    }


async def test_a_state_that_is_written_back_reads_as_it_was(tiny: Found, database_url: str) -> None:
    async with connected(database_url) as connection:
        rows = await rows_of(connection)
        for tables in tiny.seen():
            whole = connection.transaction()
            await whole.start()
            await rows.write(connection, tables)
            reading = await rows.read(connection)
            await whole.rollback()
            assert as_text(reading.tables) == as_text(tables)


async def test_a_search_leaves_nothing_in_the_ledger(tiny: Found, database_url: str) -> None:
    async with connected(database_url) as connection:
        assert await connection.fetchval("SELECT count(*) FROM tasks") == 0


async def test_a_bug_is_found_and_the_shortest_way_to_it_is_told_as_a_table(database_url: str, redis_url: str) -> None:
    mutant = MUTANTS["decline_ignored"]

    async with planted(mutant, database_url):
        found = await searched(WORLDS[mutant.world], database_url, redis_url)

    assert found.violation is not None
    assert [(link.who, link.what) for link in found.violation.way] == [
        ("A", "claims under k1"),
        ("A", "declines t1#1"),
        ("A", "claims under k2"),
    ]
    table = told(found.violation)
    assert "A was given t1, which it has just declined" in table
    assert "| 3 | A | claims under k2 | ('t1#2',) | t1 CLAIMED (0 of 2 charged, lease to come); A's t1#1" in table


async def test_a_mutant_that_no_longer_fits_the_product_says_so(database_url: str) -> None:
    stale = Mutant("nothing", "small", [Text("settlements", "settle", "what was never there", "")])

    with pytest.raises(AssertionError, match="the mutant is stale"):
        async with planted(stale, database_url):
            pass


async def test_what_a_mutant_takes_away_comes_back(database_url: str, redis_url: str) -> None:
    await empty(database_url, redis_url)
    connection = await asyncpg.connect(database_url)
    index = "SELECT pg_get_indexdef('tasks_occupant'::regclass)"
    before = await connection.fetchval(index)

    async with planted(MUTANTS["lane_without_index"], database_url):
        without = await connection.fetchval("SELECT to_regclass('tasks_occupant')")

    assert without is None
    assert await connection.fetchval(index) == before
    await connection.close()


def test_every_mutant_is_to_be_found_in_a_world_that_there_is() -> None:
    assert {mutant.world for mutant in MUTANTS.values()} <= WORLDS.keys()
