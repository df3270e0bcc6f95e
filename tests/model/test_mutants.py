"""Every mutant is found: a search that never found anything proves nothing."""

import pytest

from tests.model.ground import searched
from tests.model.mutants import MUTANTS, planted
from tests.model.worlds import WORLDS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.mark.parametrize("name", MUTANTS)
async def test_every_mutant_is_found(name: str, database_url: str, redis_url: str) -> None:
    mutant = MUTANTS[name]

    async with planted(mutant, database_url):
        found = await searched(WORLDS[mutant.world], database_url, redis_url)

    assert found.violation is not None, f"nothing saw that {mutant.story}"
