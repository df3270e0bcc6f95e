"""A pool of sandboxed children for every test, and what it takes to look into them."""

from collections.abc import AsyncIterator

import pytest

from officeplane.sandbox.pool import Sandbox


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A pool of at most two children, none of them born."""
    pool = Sandbox(2)
    yield pool
    await pool.close()
