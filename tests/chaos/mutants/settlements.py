"""What may go wrong when an attempt ends."""

from tests.chaos.mutants.texts import change

_MAY_END = (
    "(locked.current_state IN ('RUNNING', 'VALIDATING') OR locked.current_state IN ('CLAIMED')"
    " AND locked.target IN ('QUEUED', 'CANCELLED'))"
)
_GUARD = (
    f"{_MAY_END} AND locked.current_claim = locked.claim_id\n"
    "       AND (NOT :only_lapsed::boolean OR locked.lease_until <= clock_timestamp())"
)


_ALL = ("settle", "settle_well", "settle_and_claim", "settle_edits")
"""An attempt ends by one of these; what they share is written once and loaded into each."""


def settle_without_claim() -> None:
    """Whoever settles a running task may, whether the attempt is his or not."""
    for query in _ALL:
        change("settlements", query, " AND locked.current_claim = locked.claim_id\n", "\n")


def reap_without_guard() -> None:
    """The reaper ends whatever it had read, although it may have been renewed or ended since."""
    guarded = f"{_MAY_END} AND locked.current_claim = locked.claim_id"
    anything = ":only_lapsed::boolean AND locked.current_state NOT IN ('COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELLED')"
    change("settlements", "settle", _GUARD, f"({guarded} OR {anything})")


def ahead_unchecked() -> None:
    """Edits that were done before their turn are settled whether or not they are next, and as they were read."""
    text = "lined_up n ON n.leader_id = r.leader_id AND n.place = r.place AND n.next_id = r.task_id"
    change("settlements", "settle_edits", text, "LATERAL (SELECT r.task_id AS next_id) n ON true")
    change("settlements", "settle_edits", "ON t.version::text = r.version AND ", "ON ")


def cancel_flag_ignored() -> None:
    """Who was asked to stop ends as if nobody had asked."""
    asked = "CASE WHEN t.cancel_requested_at IS NULL THEN o.wanted ELSE 'CANCELLED' END AS target"
    for query in _ALL:
        change("settlements", query, asked, "o.wanted AS target")
