"""Every mutant still finds what it breaks; `python -m tests.chaos.mutants` sees that the chaos finds the mutant."""

import asyncio
import sys
from pathlib import Path

from tests.chaos.mutants import MUTANTS

# Each is applied in a process of its own, for they change the same queries; forks of one interpreter are quick.
_APPLY_EACH = """
import os, sys
from tests.chaos.mutants import MUTANTS
for name, mutant in MUTANTS.items():
    child = os.fork()
    if not child:
        mutant.apply()
        sys.stdout.write(name + "\\n")
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
"""


async def test_no_mutant_is_stale() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _APPLY_EACH, cwd=Path(__file__).parents[2], stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()

    assert out.decode().split() == list(MUTANTS)
