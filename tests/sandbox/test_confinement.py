"""Confinement: whoever takes a child over has gained nothing, and what does not hold is told."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast
from urllib.parse import urlsplit

import pytest

from officeplane.embedded.stack import EmbeddedStack
from officeplane.sandbox.confinement import FULL, Confinement, Layer, offered
from officeplane.sandbox.errors import ChildDiedError, NotConfinedError
from officeplane.sandbox.operations import Check
from officeplane.sandbox.pool import Sandbox
from tests.sandbox.asking import AFile
from tests.sandbox.intrusion.all_attempts import FILES, NAMES
from tests.sandbox.processes import born
from tests.sandbox.takeover import DONE, SECRET

LIVES: Final = ("here", "unprivileged", "contained")
REFUSED: Final = {"EPERM", "EACCES"}
"""By a filter or a rule: any other error would mean that the kernel has looked at what was asked."""
REFUSED_OTHERWISE: Final = {
    "fork by another call": "ENOSYS",
    "have a thread": "can't start new thread",
    "type into a terminal": "ENOTTY",
    "send to somebody else over its own socket": "EISCONN",
    **dict.fromkeys(
        [f"have {what}" for what in ("more memory", "larger files", "more processes", "more descriptors", "more time")]
        + ["leave a dump"],
        "not allowed to raise maximum limit",
    ),
}

ToldOf = Callable[[str], dict[str, Any]]

needs_full = pytest.mark.skipif(not offered() >= FULL, reason="this kernel has no Landlock or no seccomp")


@cache
def taken_over(living: str, postgres: int, redis: int) -> dict[str, Any]:
    """Return what came of it when somebody took over a child of an owner that lives so."""
    # Every user has to get there, and the folders of pytest are closed.
    with TemporaryDirectory(prefix="officeplane-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        ended = subprocess.run(
            [sys.executable, "-m", "tests.sandbox.takeover", name, living, str(postgres), str(redis)],
            env={**os.environ, "OFFICEPLANE_DATABASE_URL": f"postgresql://officeplane:{SECRET}@127.0.0.1/officeplane"},
            capture_output=True,
            check=True,
            timeout=120,
        )
        told: dict[str, Any] = json.loads(ended.stdout)
        told["left"] = {one.name: one.read_text() if one.is_file() else None for one in folder.iterdir()}
    return told


@pytest.fixture
def told_of(stack: EmbeddedStack) -> ToldOf:
    """Tell what came of a takeover beside real servers; once for each way to live."""

    def told(living: str) -> dict[str, Any]:
        return taken_over(living, *(urlsplit(url).port or 0 for url in (stack.database_url, stack.redis_url)))

    return told


@needs_full
@pytest.mark.parametrize("attempt", NAMES)
def test_whoever_takes_a_child_over_cannot(told_of: ToldOf, attempt: str) -> None:
    came_of_it = {living: told_of(living)["attempts"][attempt] for living in LIVES}

    allowed = {REFUSED_OTHERWISE[attempt]} if attempt in REFUSED_OTHERWISE else REFUSED
    assert not {living: outcome for living, outcome in came_of_it.items() if outcome not in allowed}


@needs_full
@pytest.mark.parametrize("living", LIVES)
def test_after_a_takeover_all_is_as_it_was(told_of: ToldOf, living: str) -> None:
    told = told_of(living)

    assert told["left"] == {"installation.json": SECRET, "admin.key": SECRET, "inner": None, "socket": None}
    assert told["sibling_says"] == "of another"
    assert told["begotten"] == "EPERM"


@pytest.mark.parametrize("living", [*LIVES, "old", "old, contained"])
def test_a_child_is_under_every_layer_that_there_is_and_tells_so(told_of: ToldOf, living: str) -> None:
    told = told_of(living)

    layers: Confinement = frozenset(map(Layer, told["layers"]))
    withheld = {Layer.LANDLOCK, Layer.SECCOMP} if "old" in living else frozenset[Layer]()
    assert layers - {Layer.NAMESPACES} == offered() - withheld
    status = told["status"]
    assert status["NoNewPrivs"] == "1"
    assert [int(status[kind], 16) for kind in ("CapPrm", "CapEff", "CapInh", "CapAmb")] == [0] * 4
    # As the first of a PID namespace it has a number of its own in it.
    assert (len(status["NSpid"].split()) > 1) is (Layer.NAMESPACES in layers)
    if "contained" in living:
        assert Layer.NAMESPACES not in layers
    assert told["leads"]


@pytest.mark.parametrize("attempt", FILES)
def test_without_landlock_and_seccomp_whoever_takes_a_child_over_can(told_of: ToldOf, attempt: str) -> None:
    assert told_of("old, contained")["attempts"][attempt] == DONE


def test_what_a_child_has_started_ends_with_it_on_an_old_kernel_as_well(told_of: ToldOf) -> None:
    told = told_of("old")

    if Layer.NAMESPACES not in told["layers"] and not os.geteuid():
        pytest.skip("root is kept from starting processes by nothing else here")
    assert told["descendant_has_ended"]


def test_where_there_is_neither_namespace_nor_filter_a_child_that_is_not_roots_starts_nothing(told_of: ToldOf) -> None:
    assert told_of("old, contained")["begotten"] == "EAGAIN"


async def test_a_child_that_is_not_confined_as_required_is_not_used() -> None:
    sandbox = Sandbox(2, required=FULL | {cast("Layer", "a moat")})

    with pytest.raises(NotConfinedError, match="no file is opened without a moat"):
        await sandbox.ask(Check(), file=AFile(b"").to_look_at())

    assert born() == []
    await sandbox.close()


async def test_a_pool_tells_what_holds_its_children(sandbox: Sandbox) -> None:
    assert sandbox.confinement == offered()

    await sandbox.ask(Check(), file=AFile(b"no file at all").to_look_at())

    assert sandbox.confinement - {Layer.NAMESPACES} == offered()


def test_a_child_that_has_computed_for_too_long_is_told_apart_from_one_that_ends_by_itself() -> None:
    # Statuses as `wait` has them: exits are in the upper byte.
    assert ChildDiedError.of(signal.SIGXCPU << 8).killed_by is signal.SIGXCPU
    assert ChildDiedError.of(1 << 8).killed_by is None
