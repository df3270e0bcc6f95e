"""All chores: every `Chore` of every file in this folder."""

import importlib
import pkgutil

from workers import maintenance
from workers.maintenance.chore import Chore


def all_chores() -> list[Chore]:
    """Return every chore, by name."""
    modules = [
        importlib.import_module(f"{maintenance.__name__}.{module.name}")
        for module in pkgutil.iter_modules(maintenance.__path__)
    ]
    found = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, Chore)}
    return sorted(found.values(), key=lambda chore: chore.name)
