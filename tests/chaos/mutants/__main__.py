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

from tests.chaos.checker import Violation
from tests.chaos.mutants import MUTANTS
from tests.chaos.run import Plan, run_chaos

BOUND_SECONDS: Final = 180.0
NEMESIS_SECONDS: Final = 30.0


def main() -> int:
    """Try every mutant, or those named; return 1 if one got away."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(MUTANTS)}")
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    print("| mutant | what is broken | caught | by |\n|---|---|---|---|", flush=True)
    escaped = 0
    for name in asked.names or MUTANTS:
        violations, seconds = _hunt(name, asked.seed)
        found = Counter(violation.invariant for violation in violations)
        is_caught = bool(MUTANTS[name].expected & found.keys())
        escaped += not is_caught
        by = ", ".join(f"{invariant} ({count})" for invariant, count in found.most_common()) or "nobody"
        caught = f"after {seconds:.0f} s" if is_caught else f"no, {seconds:.0f} s"
        print(f"| `{name}` | {MUTANTS[name].story} | {caught} | {by} |", flush=True)
        for one in {violation.invariant: violation for violation in violations}.values():
            print(f"  e.g. {one}", file=sys.stderr, flush=True)
    return 1 if escaped else 0


def _hunt(name: str, seed: int) -> tuple[list[Violation], float]:
    """Run one seed after the other until the mutant is caught or no time is left for another."""
    began = time.monotonic()
    longest = 0.0
    while True:
        started = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix="officeplane-mutant-"))
        try:
            provocation = MUTANTS[name].provoked_by
            plan = Plan(seed, NEMESIS_SECONDS, name, provocation.faults, provocation.failpoints)
            outcome = asyncio.run(run_chaos(plan, folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        seed += 1
        elapsed, longest = time.monotonic() - began, max(longest, time.monotonic() - started)
        is_caught = any(violation.invariant in MUTANTS[name].expected for violation in outcome.violations)
        if is_caught or elapsed + longest > BOUND_SECONDS:
            return outcome.violations, elapsed


if __name__ == "__main__":
    sys.exit(main())
