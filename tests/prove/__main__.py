# ruff: noqa: T201  (a command line prints)
"""`python -m tests.prove`: the larger proofs, each printed as `figure | measured | promised`, and as JSON.

`--only zombies` carries out one part; `--list` names them all.
"""

import argparse
import asyncio
import logging
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

import structlog

from tests.prove import (
    attempts,
    chaos,
    documents,
    intruders,
    limits,
    recovery,
    shortages,
    splits,
    streams,
    suites,
    validity,
)
from tests.prove.figures import Figure, as_json, row

Part = Callable[[Path], Awaitable[list[Figure]]]

PARTS: Final[Mapping[str, Part]] = {
    part.__name__: part
    for part in (
        suites.races,
        suites.failpoints,
        attempts.zombies,
        attempts.drains,
        splits.split,
        splits.clocks,
        limits.backlog,
        limits.lane,
        limits.batches,
        limits.retries,
        streams.streams,
        shortages.pool,
        shortages.disk,
        shortages.memory,
        recovery.deaths,
        recovery.lost_pushes,
        recovery.redis_gone,
        recovery.flushed,
        recovery.postgres_restarts,
        documents.documents,
        validity.validity,
        intruders.intruders,
        intruders.past_the_gate,
        chaos.chaos,
        suites.mutants,
    )
}


def main() -> int:
    """Carry out the parts asked for; the exit code is 1 when a promise was not kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.prove", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(PARTS), help="this part; may repeat")
    parser.add_argument("--list", action="store_true", help="name the parts")
    parser.add_argument("--json", type=Path, help="append the figures to this file, a part a line")
    asked = parser.parse_args()
    if asked.list:
        for name, part in PARTS.items():
            print(f"{name:12} {(part.__doc__ or '').splitlines()[0]}")
        return 0
    # The processes that are looked at have logs of their own; this one would tell of every fault that it makes.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    held = [_carried_out(name, asked.json) for name in asked.only or PARTS]
    return 0 if all(held) else 1


def _carried_out(name: str, file: Path | None) -> bool:
    folder = Path(tempfile.mkdtemp(prefix=f"officeplane-prove-{name}-"))
    began = time.monotonic()
    print(f"-- {name}", flush=True)
    try:
        figures = asyncio.run(_measured(name, folder))
    except Exception:  # noqa: BLE001 - the other parts are still to come
        traceback.print_exc()
        print(f"{name} broke off; its logs are in {folder}", flush=True)
        return False
    for figure in figures:
        print(row(figure))
    line = as_json(name, time.monotonic() - began, figures)
    print(line, flush=True)
    if file is not None:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(line + "\n")
    held = all(figure.held for figure in figures)
    if held:
        shutil.rmtree(folder)
    else:
        print(f"logs are in {folder}", flush=True)
    return held


async def _measured(name: str, folder: Path) -> list[Figure]:
    return await PARTS[name](folder)


if __name__ == "__main__":
    sys.exit(main())
