"""`batch_edit`: the type of a parent; its children do the work, so it has no function."""

from typing import Final

from officeplane.domain.batch import BATCH_TYPE
from officeplane.handlers.contract import NoPayload, TaskType

BATCH_EDIT: Final = TaskType(
    name=BATCH_TYPE, title="Run children in order", payload=NoPayload, run=None, is_async=False
)
