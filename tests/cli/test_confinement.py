"""`serve` and `worker` on a machine that cannot confine what opens files: they say so, or do not start."""

import asyncio
import os

import pytest

from tests.cli.conftest import PROGRAM, Plane
from tests.sandbox.takeover import live_on_an_old_kernel


async def on_an_old_kernel(plane: Plane, command: str, sandbox: str) -> asyncio.subprocess.Process:
    """Start a command where there is neither Landlock nor seccomp."""
    return await asyncio.create_subprocess_exec(
        PROGRAM,
        command,
        env={**os.environ, **plane.env, "OFFICEPLANE_PORT": "0", "OFFICEPLANE_SANDBOX": sandbox},
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=live_on_an_old_kernel,
    )


@pytest.mark.parametrize("command", ["serve", "worker"])
async def test_a_process_whose_sandbox_lacks_what_is_required_does_not_start(plane: Plane, command: str) -> None:
    process = await on_an_old_kernel(plane, command, "require")

    _, said = await process.communicate()

    assert process.returncode == 1
    assert b"the kernel offers no landlock and seccomp, which OFFICEPLANE_SANDBOX=require asks for" in said


@pytest.mark.parametrize("command", ["serve", "worker"])
async def test_a_process_whose_sandbox_lacks_something_says_so_and_starts(plane: Plane, command: str) -> None:
    process = await on_an_old_kernel(plane, command, "auto")
    assert process.stderr is not None

    lines = [await process.stderr.readline() for _ in range(2)]
    process.terminate()
    await process.communicate()

    assert b"sandbox.incomplete" in lines[0]
    assert b"started" in lines[1] or b"listening" in lines[1]
