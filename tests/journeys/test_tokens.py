"""Tokens: hundreds of concurrent edits of real files, while processes die; nothing is lost, doubled or half there."""

from pathlib import Path

import pytest

from tests.dispatch.own_server import own_server
from tests.journeys.conftest import Install
from tests.tokens.oracle import consult

pytestmark = pytest.mark.timeout(170)  # a busy machine; alone it takes a fifth of that


async def test_what_the_files_say_is_what_was_completed_in_the_order_of_revisions(
    install: Install, tmp_path: Path
) -> None:
    async with own_server(tmp_path) as redis, install(at_redis=redis.url) as plane:
        await redis.start()

        async def stop_redis() -> None:
            redis.kill()

        verdict = await consult(
            plane.processes, edits=200, strikes=5, seed=7, stop_redis=stop_redis, start_redis=redis.start
        )

        assert not verdict.wrong, "\n".join(each[:3_000] for each in verdict.wrong[:5])
        assert verdict.states["COMPLETED"] >= 150
        assert {"comment", "format", "chart"} <= verdict.completed.keys()
        assert {"FAILED", "CANCELLED"} <= verdict.states.keys()
        assert verdict.wholes["COMPLETED"] > 0
        assert verdict.notes.doubtful > 0
        assert len(verdict.struck) == 5
