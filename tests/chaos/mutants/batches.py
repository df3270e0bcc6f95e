"""What may go wrong with trees."""

from dataclasses import replace

from officeplane.domain.request import TaskRequest
from officeplane.handlers.catalogue import Catalogue
from officeplane.services import submission
from officeplane.services.intake import Intake, take_in
from tests.chaos.mutants.texts import change, monkey_patch


def cancel_unconditional() -> None:
    """A cancellation ends what runs at once, instead of asking it to stop."""
    change("trees", "cancel", "WHERE id = ANY($2::uuid[])", "WHERE false AND id = ANY($2::uuid[])")
    change(
        "trees",
        "cancel",
        "WHERE id = ANY($1::uuid[]) AND (state IN ('PENDING', 'QUEUED', 'RETRYING')"
        " OR state IN ('CLAIMED', 'RUNNING', 'VALIDATING') AND NOT runnable)",
        "WHERE id = ANY($1::uuid[] || $2::uuid[]) AND finished_at IS NULL",
    )
    change(
        "trees",
        "cancel",
        "UPDATE tasks SET state = 'CANCELLED',",
        "UPDATE tasks SET state = 'CANCELLED', lease_until = NULL,",
    )


def tree_without_lock() -> None:
    """A batch is added up while others change it."""
    change("trees", "lock_roots", " FOR NO KEY UPDATE", "")
    change("trees", "lock_nodes", " FOR NO KEY UPDATE NOWAIT", "")


def children_at_once() -> None:
    """Children do not wait for those before them."""

    def taken_in(request: TaskRequest, catalogue: Catalogue) -> Intake:
        intake = take_in(request, catalogue)
        return replace(intake, rows=tuple(row._replace(blockers=0) for row in intake.rows))

    monkey_patch(submission, "take_in", taken_in)
