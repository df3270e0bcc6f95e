"""Confinement: what a sandboxed child gives up before it opens anything, layer by layer, as far as the kernel can.

Each layer holds where another has a hole, and none needs privileges. A child tells which
layers it is under, because on some kernel, or in some container, one may be missing.
"""

import signal
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from officeplane.sandbox import kernel, landlock, resource_limits, seccomp


class Layer(StrEnum):
    """What can confine a child."""

    LIMITS = "limits"
    NO_PRIVILEGES = "no privileges"
    HIDDEN_MEMORY = "hidden memory"
    LANDLOCK = "landlock"
    SECCOMP = "seccomp"
    NAMESPACES = "namespaces"


Confinement = frozenset[Layer]

FULL: Final[Confinement] = frozenset(Layer) - {Layer.NAMESPACES}
"""Under these a child is worth nothing to somebody who has taken it over; namespaces most containers refuse."""

WITHOUT: Final[Mapping[Layer, str]] = {
    Layer.LIMITS: "could use up the memory, the processors and the disk of the machine",
    Layer.NO_PRIVILEGES: "could use what root may, and programs that give rights to those who start them",
    Layer.HIDDEN_MEMORY: "could be looked into by others of its user, and would leave its memory on disk in a crash",
    Layer.LANDLOCK: "could read every file that its user may read, such as the passwords of this installation",
    Layer.SECCOMP: "could start programs and processes, and ask the kernel for all that its user may",
    Layer.NAMESPACES: "has network and processes around it, and only Landlock and seccomp keep it from them",
}
"""What a child that was taken over could do if a layer were missing, or what else that means."""

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38


def offered() -> Confinement:
    """Return what the system offers for certain; namespaces can only be tried."""
    if sys.platform != "linux":
        return frozenset({Layer.LIMITS})
    has = {Layer.LANDLOCK: landlock.version() > 0, Layer.SECCOMP: seccomp.is_available()}
    return frozenset({Layer.LIMITS, Layer.NO_PRIVILEGES, Layer.HIDDEN_MEMORY}) | {
        layer for layer, is_there in has.items() if is_there
    }


def confine(parent: int, *, has_namespaces: bool) -> Confinement:
    """Give up all that a child of this parent does not need, for good; return the layers that it is under.

    What every kernel has is an error where it fails. A child whose parent is gone already ends.
    """
    resource_limits.impose()
    layers = {Layer.LIMITS, Layer.NAMESPACES} if has_namespaces else {Layer.LIMITS}
    if sys.platform != "linux":
        return frozenset(layers)
    readable = _libraries()
    kernel.prctl(PR_SET_NO_NEW_PRIVS, 1)
    kernel.drop_capabilities()
    layers.add(Layer.NO_PRIVILEGES)
    kernel.hide_memory()
    layers.add(Layer.HIDDEN_MEMORY)
    # This comes after those: a process that changes its rights is no longer killed with its parent.
    kernel.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent_outside() != parent:
        # It died before this process had asked to be killed with it.
        raise SystemExit
    if landlock.version():
        with suppress(OSError):
            landlock.restrict(readable)
            layers.add(Layer.LANDLOCK)
    if seccomp.is_available():
        with suppress(OSError):
            seccomp.restrict()
            layers.add(Layer.SECCOMP)
    return frozenset(layers)


def named(layers: Iterable[str]) -> str:
    """Return layers as people name them."""
    *others, last = sorted(layers)
    return f"{', '.join(others)} and {last}" if others else last


def _libraries() -> set[str]:
    """Return the folders that modules are imported from: the interpreter's, and our own."""
    installed = {sys.prefix, sys.base_prefix}
    # What else leads to modules may be the folder of a project, with its data in it.
    return {
        *(folder for folder in sys.path if any(Path(folder).is_relative_to(prefix) for prefix in installed)),
        str(Path(__file__).parents[1]),
    }


def parent_outside() -> int:
    """Return the parent as those outside see it: whoever has processes of its own is told of none."""
    status = Path("/proc/self/stat").read_text()
    return int(status.rpartition(")")[2].split()[1])
