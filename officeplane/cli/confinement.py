"""A process that serves an installation: whether it can confine what opens files, or says what is missing."""

import structlog

from officeplane.cli.exits import RefusedError
from officeplane.config import Settings
from officeplane.sandbox.confinement import FULL, named, offered

_log = structlog.stdlib.get_logger(__name__)


def check_confinement(settings: Settings) -> None:
    """Say what the sandbox of this process lacks; refuse to run with that, if it has to be whole."""
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
