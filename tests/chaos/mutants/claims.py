"""What may go wrong when work is taken."""

from tests.chaos.mutants.texts import change


def claim_without_guard() -> None:
    """A task without a document is claimed whatever unfinished state it is in."""
    change(
        "claims",
        "claim_hinted",
        "state IN ('QUEUED', 'RETRYING') AND runnable AND run_at",
        "state IN ('QUEUED', 'RETRYING', 'RUNNING') AND runnable AND run_at",
    )


def lane_order_off() -> None:
    """The last of a lane is claimed first."""
    for noun, query in (("claims", "claim_lanes"), ("settlements", "settle_and_claim")):
        change(noun, query, "ORDER BY rank, seq LIMIT 1) head", "ORDER BY rank DESC, seq DESC LIMIT 1) head")
