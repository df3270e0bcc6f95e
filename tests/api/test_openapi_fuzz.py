"""Schemathesis over the OpenAPI document: 100 cases an operation, right ones and wrong ones, and some with every scope.

`FUZZ_SEED=17` tries others than those of every day.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

import pytest

from officeplane.config import Settings
from officeplane.domain.narrowing import Narrowing
from officeplane.domain.principal import LOCAL, Scope
from officeplane.store.migrate import migrate
from tests.api.client import running, runtime_of, served, state_in
from tests.conftest import NewDatabase

CASES: Final = 100
CASES_WITH_KEY: Final = 10
SEED: Final = os.environ.get("FUZZ_SEED", "2025")
WITHIN_SECONDS: Final = 900
"""It takes three and a half minutes of a busy core for seventy routes; a slow machine has as much again, twice."""

# A schema cannot say which task types there are, nor what fits the payload of each,
# so a body that fits the schema may be refused all the same.
NOT_CHECKED: Final = "positive_data_acceptance"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(WITHIN_SECONDS + 60)]


@pytest.fixture
async def installation(new_database: NewDatabase, redis_url: str) -> Settings:
    """Settings with a database of their own."""
    database_url = await new_database()
    await migrate(database_url)
    return Settings(database_url=database_url, redis_url=redis_url, key_prefix="api-fuzz-tests")


async def test_no_request_gets_an_answer_that_is_not_documented(installation: Settings, tmp_path: Path) -> None:
    async with running(installation) as app, served(app) as url:
        # Streams and long waits end at once, as they do while a server stops.
        state_in(app).stopping.set()

        report = await fuzzed(url, tmp_path, CASES)

    assert f"Seed: {SEED}" in report


@pytest.mark.parametrize("scope", Scope)
async def test_nor_does_one_with_a_key(installation: Settings, tmp_path: Path, scope: Scope) -> None:
    async with running(installation.model_copy(update={"auth": "required"})) as app, served(app) as url:
        state_in(app).stopping.set()
        only = Narrowing(("plan*",), ("noop", "add_*"), most_urgent=10, agents=("writer-*",))
        made = await runtime_of(app).api_keys.create(LOCAL, scope, [scope], space="acme", narrowing=only)

        await fuzzed(url, tmp_path, CASES_WITH_KEY, "--header", f"Authorization: Bearer {made.text}")


async def fuzzed(url: str, folder: Path, cases: int, *options: str) -> str:
    """Try all operations of a server, and return what was said of it."""
    fuzzing = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("schemathesis"),
        "run",
        f"{url}/openapi.json",
        *("--max-examples", str(cases), "--seed", SEED, "--exclude-checks", NOT_CHECKED),
        *("--continue-on-failure", "--request-timeout", "20", "--warnings", "off"),
        *options,
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "NO_PROXY": "*"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(WITHIN_SECONDS):
            report, _ = await fuzzing.communicate()
    finally:
        if fuzzing.returncode is None:
            fuzzing.kill()
            await fuzzing.wait()
    assert fuzzing.returncode == 0, report.decode()
    return report.decode()
