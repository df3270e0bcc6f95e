"""What may go wrong with trees."""

from collections.abc import Iterable

from officeplane.domain.ids import TaskId
from officeplane.domain.principal import Principal
from officeplane.domain.request import TaskRequest
from officeplane.domain.tree import Cancelling, Tree
from officeplane.handlers.catalogue import Catalogue
from officeplane.services.operate import cancellation
from officeplane.services.submit import submission
from officeplane.services.submit.intake import Intake, take_in
from officeplane.services.submit.position_rules import DagPlace
from tests.chaos.mutants.texts import change, monkey_patch


def cancel_unconditional() -> None:
    """A cancellation ends everything at once, in whatever state it is."""

    def everything(tree: Tree, targets: Iterable[TaskId]) -> Cancelling:
        return Cancelling(frozenset(node.id for target in targets for node in tree.below(target)), frozenset())

    monkey_patch(cancellation, "cancelling_all", everything)
    monkey_patch(cancellation, "FINAL", ())
    guard = (
        "(state IN ('PENDING', 'QUEUED', 'RETRYING')"
        " OR state IN ('CLAIMED', 'RUNNING', 'VALIDATING') AND (NOT runnable OR demand_id IS NOT NULL))"
    )
    change("trees", "cancel", guard, "true")


def tree_without_lock() -> None:
    """A batch is added up while others change it."""
    change("trees", "take_turns", "pg_advisory_xact_lock(hashtextextended(id::text, 0))", "id")
    change("trees", "lock_roots", " FOR NO KEY UPDATE", "")
    change("trees", "lock_nodes", " FOR NO KEY UPDATE NOWAIT", "")


def children_at_once() -> None:
    """Children do not wait for those before them."""

    def taken_in(caller: Principal, request: TaskRequest, catalogue: Catalogue, dag: DagPlace | None = None) -> Intake:
        intake = take_in(caller, request, catalogue, dag)
        return intake._replace(rows=tuple(row._replace(blockers=0) for row in intake.rows))

    monkey_patch(submission, "take_in", taken_in)
