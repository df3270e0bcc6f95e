# ruff: noqa: T201  (a command line prints)
"""`python -m tests.model [NAME ...]`: search worlds, or see that mutants are found; all of both, if none is named."""

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from pathlib import Path

import structlog

from officeplane.embedded.stack import EmbeddedStack, embedded_stack
from officeplane.store.migrate import migrate
from tests.kept import kept
from tests.model.ground import searched
from tests.model.mutants import MUTANTS, planted
from tests.model.trace import figures, told
from tests.model.worlds import WORLDS


def main() -> int:
    """Search what was asked for; return 1 if a law was broken, or a mutant got away."""
    parser = argparse.ArgumentParser(prog="python -m tests.model", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join([*WORLDS, *MUTANTS])}")
    asked = parser.parse_args()
    # Reapers and refusals are what a search is made of.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    return asyncio.run(_searched(asked.names or [*WORLDS, *MUTANTS]))


async def _searched(names: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="officeplane-model-") as folder:
        async with embedded_stack(Path(folder), durable=False) as stack, kept():
            await migrate(stack.database_url)
            return int(not all([await _held(name, stack) for name in names]))


async def _held(name: str, stack: EmbeddedStack) -> bool:
    began = time.monotonic()
    if name in WORLDS:
        found = await searched(WORLDS[name], stack.database_url, stack.redis_url)
        print(f"## {name}: {WORLDS[name].story}\n\n{figures(found)}, {time.monotonic() - began:.0f} s\n", flush=True)
        if found.violation is not None:
            print(told(found.violation), flush=True)
        return found.violation is None
    async with planted(MUTANTS[name], stack.database_url):
        found = await searched(WORLDS[MUTANTS[name].world], stack.database_url, stack.redis_url)
    how = "not found" if found.violation is None else "found"
    print(f"## mutant {name}: {MUTANTS[name].story}\n\n{how}, {time.monotonic() - began:.0f} s\n", flush=True)
    if found.violation is not None:
        print(told(found.violation) + "\n", flush=True)
    return found.violation is not None


if __name__ == "__main__":
    sys.exit(main())
