"""One document for every test."""

import pytest

from tests.services.editing import (
    a_document,
)
from tests.workbench import Workbench


@pytest.fixture(autouse=True)
async def plan(bench: Workbench) -> str:
    """An empty Word document at revision 1."""
    return await a_document(bench)
