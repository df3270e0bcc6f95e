"""A pool of sandboxed children for every test, and what it takes to look into them."""

from collections.abc import AsyncIterator

import pytest

from officeplane.sandbox.pool import Sandbox
from tests.sandbox.processes import overlook_others


@pytest.fixture(autouse=True)
def others_are_overlooked() -> None:
    """Whatever sandboxes this process has besides are none of these tests' business."""
    overlook_others()


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    """A pool of at most two children, none of them born."""
    pool = Sandbox(2)
    yield pool
    await pool.close()
