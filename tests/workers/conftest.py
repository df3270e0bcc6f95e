"""Workers in this process and in processes of their own, on an empty plane for every test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog

from officeplane.dispatch import announcements, bells
from tests.kept import empty
from tests.workbench import Workbench, open_workbench
from tests.workers.hosting import QUICK
from tests.workers.marks import Marks


@pytest.fixture
def marks(tmp_path: Path) -> Iterator[Marks]:
    made = Marks(tmp_path)
    yield made
    made.open_all_gates()


@pytest.fixture
async def bench(database_url: str, redis_url: str) -> AsyncIterator[Workbench]:
    """A plane that knows the tests' task types, and one pair of hands, with nothing in it yet."""
    await empty(database_url, redis_url)
    async with open_workbench(database_url, redis_url, **QUICK) as workbench:
        yield workbench


@pytest.fixture(autouse=True)
def rings_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a Valkey that stands still for a moment be waited for: most loops here look nowhere else for work."""
    monkeypatch.setattr(bells, "RING_SECONDS", 5.0)
    # Who gives it up over an announcement does not ring either.
    monkeypatch.setattr(announcements, "ANNOUNCE_SECONDS", 5.0)


@pytest.fixture(scope="session", autouse=True)
def plain_logs() -> Iterator[None]:
    """Tracebacks as a worker writes them; those of the default, with colours, take minutes for a huge message."""
    plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[structlog.processors.add_log_level, plain], cache_logger_on_first_use=False)
    yield
    structlog.reset_defaults()
