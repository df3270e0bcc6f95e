# ruff: noqa: T201  (a command line prints)
"""`python -m tests.chaos --seed 42 --minutes 1.5`: one run, its report, and exit code 1 if a promise was broken."""

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
from pathlib import Path

from tests.chaos.faults import FAULTS
from tests.chaos.mutants import MUTANTS
from tests.chaos.nemesis import EVERY_SECONDS
from tests.chaos.report import lines, record
from tests.chaos.run import Plan, run_chaos
from tests.chaos.terms import NO_FAILPOINTS, RARE_FAILPOINTS
from tests.chaos.workload import CLIENTS


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--minutes", type=float, default=1.5, help="how long faults fall")
    parser.add_argument("--mutant", choices=sorted(MUTANTS), help="break the product in this way first")
    names = sorted(fault.name for fault in FAULTS)
    parser.add_argument(
        "--faults", nargs="+", choices=names, metavar="NAME", default=[], help=f"only these, no failpoints: {names}"
    )
    parser.add_argument("--every", type=float, default=EVERY_SECONDS, help="seconds from one fault to the next")
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--json", type=Path, help="append the report to this file, an object a line")
    parser.add_argument("--keep", action="store_true", help="keep logs and data even if nothing was violated")
    asked = parser.parse_args()
    plan = Plan(
        asked.seed,
        asked.minutes * 60,
        asked.mutant,
        faults=tuple(asked.faults),
        failpoints=NO_FAILPOINTS if asked.faults else RARE_FAILPOINTS,
        every_seconds=asked.every,
        clients=asked.clients,
    )
    folder = Path(tempfile.mkdtemp(prefix="officeplane-chaos-"))
    print(f"seed {plan.seed}; logs and data are in {folder}", flush=True)
    outcome = asyncio.run(run_chaos(plan, folder, say=lambda text: print(f"  {text}", flush=True)))
    print("\n".join(lines(outcome)), flush=True)
    if asked.json is not None:
        with asked.json.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record(outcome)) + "\n")
    if not outcome.violations and not asked.keep:
        shutil.rmtree(folder)
    return 1 if outcome.violations else 0


if __name__ == "__main__":
    sys.exit(main())
