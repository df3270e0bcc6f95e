"""All edits: every class below `Edit` in a file of this folder, by its task type."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache

from officeplane import edits
from officeplane.edits.contract import Edit


@cache
def all_edits() -> Mapping[str, type[Edit]]:
    """Return every edit by the name of its task type."""
    return {edit.task_type: edit for edit in sorted(_declared(), key=lambda edit: edit.task_type)}


def _declared() -> Iterator[type[Edit]]:
    for module in pkgutil.iter_modules(edits.__path__, f"{edits.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if (
                isinstance(value, type)
                and issubclass(value, Edit)
                and "task_type" in vars(value)  # what several edits have in common has none
                and value.__module__ == module.name
            ):
                yield value
