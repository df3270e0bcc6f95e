"""What may go wrong on the way in."""

from officeplane.domain.principal import Principal
from officeplane.domain.request import TaskRequest
from officeplane.handlers.catalogue import Catalogue
from officeplane.services.submit import submission
from officeplane.services.submit.intake import Intake, take_in
from officeplane.services.submit.position_rules import DagPlace
from tests.chaos.mutants.texts import monkey_patch


def key_ignored() -> None:
    """A request is stored again for each time it is made."""

    def taken_in(caller: Principal, request: TaskRequest, catalogue: Catalogue, dag: DagPlace | None = None) -> Intake:
        return take_in(caller, request, catalogue, dag)._replace(key=None)

    monkey_patch(submission, "take_in", taken_in)
