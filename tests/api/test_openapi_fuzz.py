"""Schemathesis over the OpenAPI document: 100 cases an operation, right ones and wrong ones.

`FUZZ_SEED=17` tries others than those of every day.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

import pytest

from officeplane.config import Settings
from officeplane.store.migrate import migrate
from tests.api.client import running, served, state_in
from tests.conftest import NewDatabase

CASES: Final = 100
SEED: Final = os.environ.get("FUZZ_SEED", "2025")
WITHIN_SECONDS: Final = 900
"""It takes three and a half minutes of a busy core for seventy routes; a slow machine has as much again, twice."""

# A schema cannot say which task types there are, nor what fits the payload of each,
# so a body that fits the schema may be refused all the same.
NOT_CHECKED: Final = "positive_data_acceptance"

pytestmark = [pytest.mark.slow, pytest.mark.timeout(WITHIN_SECONDS + 60)]


async def test_no_request_gets_an_answer_that_is_not_documented(
    new_database: NewDatabase, redis_url: str, tmp_path: Path
) -> None:
    database_url = await new_database()
    await migrate(database_url)
    settings = Settings(database_url=database_url, redis_url=redis_url, key_prefix="api-fuzz-tests")
    async with running(settings) as app, served(app) as url:
        # Streams and long waits end at once, as they do while a server stops.
        state_in(app).stopping.set()

        fuzzing = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("schemathesis"),
            "run",
            f"{url}/openapi.json",
            *("--max-examples", str(CASES), "--seed", SEED, "--exclude-checks", NOT_CHECKED),
            *("--continue-on-failure", "--request-timeout", "20", "--warnings", "off"),
            cwd=tmp_path,
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
    assert f"Seed: {SEED}" in report.decode()
