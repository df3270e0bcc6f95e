"""Chaos: everything at once, one seed after the other, until enough tasks were acknowledged."""

from collections import Counter
from pathlib import Path
from typing import Final

from tests.chaos.figures import by_kind
from tests.chaos.report import acknowledged, lost
from tests.chaos.run import Outcome, Plan, run_chaos
from tests.prove.figures import Figure, exactly, noted

TASKS: Final = 20_000
SECONDS: Final = 180.0
_FIRST_SEED: Final = 3_001


async def chaos(folder: Path) -> list[Figure]:
    """Let every fault fall on the whole installation until 20,000 tasks were acknowledged; the checker judges."""
    outcomes: list[Outcome] = []
    while sum(map(acknowledged, outcomes)) < TASKS and not any(outcome.violations for outcome in outcomes):
        seed = _FIRST_SEED + len(outcomes)
        place = folder / str(seed)
        place.mkdir()
        outcomes.append(await run_chaos(Plan(seed, SECONDS), place))
    count = sum(map(acknowledged, outcomes))
    faults: Counter[str] = Counter()
    for outcome in outcomes:
        faults.update(by_kind(outcome.evidence.struck))
    kinds = ", ".join(f"{name} {times}" for name, times in faults.most_common())
    violations = [f"{one} (seed {outcome.plan.seed})" for outcome in outcomes for one in outcome.violations]
    return [
        Figure("chaos: tasks acknowledged", f"{count} in {len(outcomes)} runs", f"at least {TASKS}", count >= TASKS),
        exactly("chaos: of these lost", sum(map(lost, outcomes)), 0),
        exactly("chaos: violations", violations, []),
        noted("chaos: faults", f"{faults.total()} of {len(faults)} kinds: {kinds}"),
        *(noted(f"chaos, seed {outcome.plan.seed}", str(figure)) for outcome in outcomes for figure in outcome.figures),
    ]
