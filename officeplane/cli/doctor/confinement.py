"""What confines those that open files: as workers tell it, and as it is tried here."""

from collections.abc import Sequence

from officeplane.cli.doctor.findings import Finding, ok, problem, warning
from officeplane.config import Settings
from officeplane.sandbox.births import Births
from officeplane.sandbox.confinement import FULL, WITHOUT, Confinement, Layer, named
from officeplane.sandbox.errors import ChildDiedError
from officeplane.store.workers import WorkerInfo

_ADVICE = (
    "Landlock needs Linux 5.13 or newer and must be on (/sys/kernel/security/lsm); a container must allow its "
    "calls and seccomp. OFFICEPLANE_SANDBOX=require refuses to run without them."
)


async def confinement_here() -> Confinement | None:
    """Have a child born on this machine, and return the layers that it is under; None if it could not be born."""
    births = Births(frozenset())
    try:
        child = await births.born()
        await child.end()
    except (ChildDiedError, OSError):
        return None
    finally:
        await births.close()
    return births.confinement


def check_confinement(settings: Settings, here: Confinement | None) -> Finding:
    """Say what holds a child that is born in this process's place, which may be another than that of the workers."""
    if here is None:
        return problem(
            "sandbox here",
            "No process in which files are opened could be started in this place.",
            "Look whether memory or processes are exhausted. A container must allow `prctl` and `capset`.",
        )
    missing = FULL - here
    if missing and settings.sandbox == "require":
        return problem(
            "sandbox here",
            f"No file is opened in this place: OFFICEPLANE_SANDBOX=require asks for {named(missing)}.",
            _ADVICE,
        )
    if missing:
        return warning("sandbox here", _told_missing(missing, "in this place"), _ADVICE)
    return ok("sandbox here", _told_held(here))


def judge_confinement(workers: Sequence[WorkerInfo]) -> Finding:
    """Say what holds the children of those workers that tell it, and what that lacks."""
    told = [(worker.host, _layers(worker.confinement)) for worker in workers if worker.confinement is not None]
    missing = frozenset[Layer]().union(*(FULL - layers for _, layers in told))
    if missing:
        hosts = sorted({host for host, layers in told if FULL - layers})
        return warning("sandbox", _told_missing(missing, f"on {', '.join(hosts)}"), _ADVICE)
    if not told:
        return ok("sandbox", "Files are opened under what older workers do not tell.")
    # A worker that has opened no file yet has not tried namespaces: that they are missing is not said here.
    held = [layer for layer in Layer if all(layer in layers for _, layers in told)]
    return ok("sandbox", f"Files are opened under {named(held)}.")


def _layers(told: Sequence[str]) -> Confinement:
    """Return the layers that are known here: a newer worker may know more."""
    return frozenset(layer for layer in Layer if layer in told)


def _told_missing(missing: Confinement, where: str) -> str:
    meaning = "; it ".join(WITHOUT[layer] for layer in sorted(missing))
    return f"Files are opened without {named(missing)} {where}: a process that one of them takes over {meaning}."


def _told_held(held: Confinement) -> str:
    lacks = sorted(frozenset(Layer) - held)
    without = "".join(f" Without {layer}, a process that one takes over {WITHOUT[layer]}." for layer in lacks)
    return f"Files are opened under {named(held)}.{without}"
