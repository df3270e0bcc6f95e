"""Mutants: the product with one guard removed. A checker that never found anything proves nothing.

Each is a function that patches a running interpreter before the command line
begins: the text of a query, a script, or one function. The product has no
branches for any of it; `python -m tests.chaos.broken NAME -- worker` is a worker
with that one thing broken, and `python -m tests.chaos.mutants` sees that the
chaos finds every one of them.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from tests.chaos.mutants import (
    batches,
    callers,
    claims,
    doorbell,
    graphs,
    maintenance,
    retries,
    settlements,
    spaces,
    submission,
)
from tests.chaos.terms import RARE_FAILPOINTS, Failpoints


class Provocation(NamedTuple):
    """Under what chaos a mutant is to be found: the usual, unless it needs something in particular."""

    faults: tuple[str, ...] = ()
    """The kinds of faults that fall; all of them unless named."""
    failpoints: Failpoints = RARE_FAILPOINTS


class Mutant(NamedTuple):
    """A way to break the product, the promises one of which must be seen broken, and what provokes it."""

    apply: Callable[[], None]
    expected: frozenset[str]
    provoked_by: Provocation

    @property
    def story(self) -> str:
        """What is broken, in a sentence."""
        return (self.apply.__doc__ or "").rstrip(".")


_CHAOS: Final = Provocation()


def _breaks(apply: Callable[[], None], *expected: str, provoked_by: Provocation = _CHAOS) -> tuple[str, Mutant]:
    return apply.__name__, Mutant(apply, frozenset(expected), provoked_by)


_ZOMBIES: Final = Provocation(
    ("freeze worker", "Postgres link black hole"), Failpoints("before_renewal=pause:2.5@0.2,reap_read=pause:1@0.5")
)
_STALE_LOOKAHEAD: Final = Provocation(
    ("Postgres link slow", "Postgres link black hole"), Failpoints("before_settle=pause:1@0.2")
)
_LONG_CANCELLATIONS: Final = Provocation(("Postgres link slow",), Failpoints(apis="cancel_written=pause:1@0.5"))
_DRAINS: Final = Provocation(("SIGTERM worker", "rolling SIGTERM"))
_LOST_HINTS: Final = Provocation(("lists lost", "FLUSHALL", "restart Valkey empty"))


MUTANTS: Final[Mapping[str, Mutant]] = dict(
    (
        _breaks(claims.claim_without_guard, "I1", "I2"),
        _breaks(claims.lane_order_off, "I6"),
        _breaks(settlements.settle_without_claim, "I2", "I4", provoked_by=_ZOMBIES),
        _breaks(settlements.reap_without_guard, "I1", "I4", "I12", provoked_by=_ZOMBIES),
        _breaks(settlements.cancel_flag_ignored, "I1"),
        _breaks(settlements.ahead_unchecked, "I6", provoked_by=_STALE_LOOKAHEAD),
        _breaks(doorbell.lock_without_nonce, "I18"),
        _breaks(doorbell.lock_not_taken, "I18"),
        _breaks(maintenance.no_sweeper, "L1", provoked_by=_LOST_HINTS),
        _breaks(maintenance.no_reaper, "L1"),
        _breaks(batches.cancel_unconditional, "I1", "I2", "I7", "L1", "L2"),
        _breaks(batches.tree_without_lock, "I1", "I7", "L1", provoked_by=_LONG_CANCELLATIONS),
        _breaks(batches.children_at_once, "I7"),
        _breaks(graphs.fan_in_uncounted, "I14"),
        _breaks(graphs.spawn_key_ignored, "I14"),
        _breaks(retries.backoff_off_by_one, "I15"),
        _breaks(retries.hand_back_charged, "I12", provoked_by=_DRAINS),
        _breaks(retries.poison_ignored, "I11", "I12"),
        _breaks(submission.key_ignored, "I13"),
        _breaks(spaces.space_ignored, "I40"),
        _breaks(spaces.dag_shown_across, "I40"),
        _breaks(spaces.dags_listed_across, "I40"),
        _breaks(spaces.documents_listed_across, "I40"),
        _breaks(spaces.pauses_listed_across, "I40"),
        _breaks(spaces.letter_shown_across, "I40"),
        _breaks(spaces.letters_listed_across, "I40"),
        _breaks(spaces.events_told_across, "I40"),
        _breaks(spaces.deeds_listed_across, "I40"),
        _breaks(spaces.keys_listed_across, "I40"),
        _breaks(spaces.breakers_listed_across, "I40"),
        _breaks(spaces.figures_of_all, "I40"),
        _breaks(callers.revoked_key_kept, "I41"),
        _breaks(callers.scope_not_asked, "I42"),
        _breaks(callers.prefix_without_end, "I42"),
    )
)
