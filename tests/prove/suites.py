"""Suites: what `make test` runs in small, run in large."""

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Final

from tests.prove.figures import Figure, exactly, noted

ROUNDS: Final = 300
_ROOT: Final = Path(__file__).parents[2]


async def races(_folder: Path) -> list[Figure]:
    """Run every race for 300 rounds."""
    return await _suite(f"races, {ROUNDS} rounds each", "tests/races", PROVE_ROUNDS=str(ROUNDS))


async def failpoints(_folder: Path) -> list[Figure]:
    """Crash, and lose the database, at every point for every kind of task."""
    return await _suite("failpoints, every kind of task", "tests/failpoints", PROVE_SWEEP="all")


async def mutants(_folder: Path) -> list[Figure]:
    """See that the chaos finds every way in which the product is broken on purpose."""
    status, lines = await _said("-m", "tests.chaos.mutants")
    rows = [line.split("|")[1:4] for line in lines if line.startswith("| `")]
    figures = [noted(f"mutant {name.strip()}", caught.strip(), "180 s") for name, _, caught in rows]
    return [*figures, exactly("mutants: every one was caught", status, 0)]


async def _suite(name: str, path: str, **environment: str) -> list[Figure]:
    _, lines = await _said("-m", "pytest", "-q", path, **environment)
    summary = next((line for line in reversed(lines) if re.search(r"\d+ (passed|failed|error)", line)), "no summary")
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return [exactly(f"{name}: {summary.strip('= ')}", failed, [])]


async def _said(*arguments: str, **environment: str) -> tuple[int, list[str]]:
    """Run Python with these arguments; return its exit status and what it said."""
    running = await asyncio.create_subprocess_exec(
        sys.executable,
        *arguments,
        cwd=_ROOT,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await running.communicate()
    return running.returncode or 0, said.decode(errors="replace").splitlines()
