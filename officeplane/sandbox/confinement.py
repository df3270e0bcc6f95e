"""Confinement: what a sandboxed child gives up before it opens anything, layer by layer, as far as the kernel can.

Each layer holds where another has a hole, and none needs privileges. A child tells which
layers it is under, because on some kernel, or in some container, one may be missing.
"""

import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Final

from officeplane.sandbox import kernel, landlock, resource_limits, seccomp


class Layer(StrEnum):
    """What can confine a child besides its resource limits."""

    LANDLOCK = "landlock"
    SECCOMP = "seccomp"
    NAMESPACES = "namespaces"
    """A network and shared memory of its own, with nothing in them. Good to have, but most containers refuse it."""


Confinement = frozenset[Layer]

FULL: Final[Confinement] = frozenset({Layer.LANDLOCK, Layer.SECCOMP})
"""Under these a child is worth nothing to somebody who has taken it over."""

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 0x08000000, 0x10000000, 0x40000000


def offered() -> Confinement:
    """Return what the kernel offers; namespaces can only be tried."""
    if sys.platform != "linux":
        return frozenset()
    has = {Layer.LANDLOCK: landlock.version() > 0, Layer.SECCOMP: seccomp.is_available()}
    return frozenset(layer for layer, is_there in has.items() if is_there)


def confine() -> Confinement:
    """Give up all that a child does not need, for good; return the layers that it is under."""
    resource_limits.impose()
    if sys.platform != "linux":
        return frozenset()
    readable = _libraries()
    kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)
    layers: set[Layer] = set()
    with suppress(OSError):
        kernel.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC)
        layers.add(Layer.NAMESPACES)
    kernel.drop_capabilities()
    kernel.hide_memory()
    # This comes after those: a process that changes its rights is no longer killed with its parent.
    kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
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
    return " and ".join(sorted(layers))


def _libraries() -> set[str]:
    """Return the folders that modules are imported from: the interpreter's, and our own."""
    installed = {sys.prefix, sys.base_prefix}
    # What else leads to modules may be the folder of a project, with its data in it.
    return {
        *(folder for folder in sys.path if any(Path(folder).is_relative_to(prefix) for prefix in installed)),
        str(Path(__file__).parents[1]),
    }
