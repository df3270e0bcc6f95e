"""Mutants: the product with one guard removed. A checker that never found anything proves nothing.

Each is a function that patches a running interpreter before the command line
begins: the text of a query, a script, or one function. The product has no
branches for any of it; `python -m tests.chaos.broken NAME -- worker` is a worker
with that one thing broken, and `python -m tests.chaos.mutants` sees that the
chaos finds every one of them.
"""

from collections.abc import Callable, Mapping
from typing import Final

from tests.chaos.mutants import batches, claims, doorbell, maintenance, retries, settlements, submission

MUTANTS: Final[Mapping[str, Callable[[], None]]] = {
    breaker.__name__: breaker
    for breaker in (
        claims.claim_without_guard,
        claims.lane_order_off,
        settlements.settle_without_claim,
        settlements.reap_without_guard,
        settlements.cancel_flag_ignored,
        doorbell.lock_without_nonce,
        doorbell.lock_not_taken,
        maintenance.no_sweeper,
        maintenance.no_reaper,
        batches.cancel_unconditional,
        batches.tree_without_lock,
        batches.children_at_once,
        retries.backoff_off_by_one,
        retries.hand_back_charged,
        retries.poison_ignored,
        submission.key_ignored,
    )
}
