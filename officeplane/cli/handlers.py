"""Handler modules, looked for in the current folder too, and refused in a line when they cannot be loaded."""

import sys
from pathlib import Path

from officeplane.cli.exits import UsageError
from officeplane.config import Settings
from officeplane.handlers.catalogue import DuplicateTaskTypeError, load_catalogue


def check_handlers(settings: Settings) -> Settings:
    """Return the same settings, when every module that they name can be loaded."""
    here = str(Path.cwd())
    if here not in sys.path:
        # As `python -m` would: an installed program starts without the current folder.
        sys.path.insert(0, here)
    try:
        load_catalogue(settings.handlers)
    except (ImportError, DuplicateTaskTypeError) as error:
        raise UsageError(f"The handlers cannot be loaded: {error}") from None
    return settings
