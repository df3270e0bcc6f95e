"""Every world, searched to its end."""

import pytest

from tests.model.ground import searched
from tests.model.trace import told
from tests.model.worlds import WORLDS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.mark.parametrize("name", WORLDS)
async def test_in_every_state_of_every_world_the_laws_hold(name: str, database_url: str, redis_url: str) -> None:
    found = await searched(WORLDS[name], database_url, redis_url)

    assert found.violation is None, told(found.violation)
