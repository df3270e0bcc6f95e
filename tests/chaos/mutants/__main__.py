# ruff: noqa: T201  (a command line prints)
"""`python -m tests.chaos.mutants [NAME ...]`: chaos with each mutant until it is caught, and a table of how."""

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from tests.chaos.mutants import MUTANTS
from tests.chaos.run import Plan, run_chaos

BOUND_SECONDS: Final = 180.0
NEMESIS_SECONDS: Final = (30.0, 45.0)


def main() -> int:
    """Try every mutant, or those named; return 1 if one got away."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(MUTANTS)}")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    print("| mutant | what is broken | caught | by |\n|---|---|---|---|", flush=True)
    escaped = 0
    for name in asked.names or MUTANTS:
        found, seconds = _hunt(name, asked.seed)
        escaped += not found
        by = ", ".join(f"{invariant} ({count})" for invariant, count in found.most_common()) or "nobody"
        caught = f"after {seconds:.0f} s" if found else f"no, {seconds:.0f} s"
        print(f"| `{name}` | {(MUTANTS[name].__doc__ or '').rstrip('.')} | {caught} | {by} |", flush=True)
    return 1 if escaped else 0


def _hunt(name: str, seed: int) -> tuple[Counter[str], float]:
    began = time.monotonic()
    for again, seconds in enumerate(NEMESIS_SECONDS):
        folder = Path(tempfile.mkdtemp(prefix="officeplane-mutant-"))
        try:
            outcome = asyncio.run(run_chaos(Plan(seed + again, seconds, name), folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if outcome.violations or time.monotonic() - began > BOUND_SECONDS / 2:
            return Counter(violation.invariant for violation in outcome.violations), time.monotonic() - began
    return Counter(), time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
