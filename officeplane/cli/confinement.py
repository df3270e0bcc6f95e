"""A process that serves an installation: closed to its neighbours, and with a word on what holds its sandbox."""

import structlog

from officeplane.cli.exits import RefusedError
from officeplane.config import Settings
from officeplane.sandbox.confinement import FULL, named, offered
from officeplane.sandbox.kernel import hide_memory

_log = structlog.stdlib.get_logger(__name__)


def check_confinement(settings: Settings) -> None:
    """Hide this process's secrets from others of its user, and say, or refuse, what its sandbox lacks."""
    hide_memory()
    missing = FULL - offered()
    if missing and settings.sandbox == "require":
        raise RefusedError(
            f"This machine cannot confine what opens files: the kernel offers no {named(missing)}, "
            "which OFFICEPLANE_SANDBOX=require asks for.",
            "Landlock needs Linux 5.13 and `landlock` in /sys/kernel/security/lsm; "
            "in a container its calls and seccomp must be allowed. Or set OFFICEPLANE_SANDBOX=auto.",
        )
    if missing:
        _log.warning("sandbox.incomplete", missing=named(missing))
