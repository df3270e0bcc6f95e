"""Documents: thousands of concurrent edits of real files, under blows; and what the files say then."""

from pathlib import Path
from typing import Final

from tests.prove.figures import Figure, exactly, noted
from tests.prove.ground import ground
from tests.tokens.oracle import consult

REQUESTS: Final = 3_000
STRIKES: Final = 30
_SEED: Final = 42


async def documents(folder: Path) -> list[Figure]:
    """Edit real files 3,000 times while workers, children and Redis die; replay the edits over a model."""
    async with ground(folder) as place:
        valkey = place.stack.valkey
        verdict = await consult(
            place.processes,
            edits=REQUESTS,
            strikes=STRIKES,
            seed=_SEED,
            stop_redis=valkey.kill,
            start_redis=valkey.start,
        )
    notes = verdict.notes
    blows = ", ".join(f"{name.replace('_', ' ')} {times}" for name, times in sorted(verdict.struck.items()))
    states = ", ".join(f"{count} {state}" for state, count in verdict.states.most_common())
    wholes = ", ".join(f"{count} {state}" for state, count in verdict.wholes.most_common())
    return [
        exactly("documents: what should not be", [fault[:2_000] for fault in verdict.wrong], []),
        noted("documents: edits", states, f"at least {REQUESTS}"),
        noted("documents: atomic batches among them", wholes),
        noted("documents: attempts", str(verdict.attempts)),
        noted("documents: revisions whose bytes have their hash", str(verdict.revisions)),
        noted("documents: files that were reopened and compared", str(verdict.reread)),
        noted("documents: blows", blows),
        noted("documents: doubtful requests, repeated with their key", f"{notes.doubtful}, {notes.replayed} replayed"),
    ]
