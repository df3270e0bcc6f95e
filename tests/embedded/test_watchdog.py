"""What happens to servers and programs when the one who started them is killed."""

import os
import signal
from pathlib import Path

from officeplane.embedded.processes import is_alive
from officeplane.embedded.stack import embedded_stack
from tests.embedded.conftest import Parent, StartParent
from tests.support import eventually


def survivors(parent: Parent) -> list[int]:
    return [pid for pid in (parent.postgres, parent.valkey, parent.watchdog) if is_alive(pid)]


async def test_a_parent_killed_outright_leaves_no_server(a_parent: StartParent, tmp_path: Path) -> None:
    parent = a_parent(tmp_path)

    parent.process.kill()

    await eventually(lambda: not survivors(parent), within=20)


async def test_the_successor_of_a_killed_parent_waits_for_its_servers_to_end(
    a_parent: StartParent, tmp_path: Path
) -> None:
    parent = a_parent(tmp_path)
    parent.process.kill()
    # A machine that stands still may take longer over this than a successor waits for it.
    parent.process.wait()

    async with embedded_stack(tmp_path, durable=False) as stack:
        assert survivors(parent) == []
        assert stack.database_url == parent.database_url
        assert stack.redis_url == parent.redis_url


async def test_servers_orphaned_with_their_watchdog_are_ended_by_the_next_start(
    a_parent: StartParent, tmp_path: Path
) -> None:
    parent = a_parent(tmp_path)
    os.kill(parent.watchdog, signal.SIGKILL)
    await eventually(lambda: not is_alive(parent.watchdog))
    parent.process.kill()
    parent.process.wait()
    assert survivors(parent) == [parent.postgres, parent.valkey]

    async with embedded_stack(tmp_path, durable=False) as stack:
        assert survivors(parent) == []
        assert stack.postgres.pid != parent.postgres


async def test_a_killed_watchdog_is_replaced(tmp_path: Path) -> None:
    async with embedded_stack(tmp_path, durable=False) as stack:
        before = stack.watchdog.pid
        os.kill(before, signal.SIGKILL)
        await eventually(lambda: not is_alive(before))

        stack.watchdog.ensure()

        assert stack.watchdog.pid != before
        assert is_alive(stack.watchdog.pid)


async def test_a_zombie_postmaster_does_not_block_the_next_start(a_parent: StartParent, tmp_path: Path) -> None:
    parent = a_parent(tmp_path)
    # Its parent does not look, so it stays a zombie; its pid file says that it runs.
    os.kill(parent.postgres, signal.SIGKILL)
    await eventually(lambda: not is_alive(parent.postgres))
    parent.process.kill()
    parent.process.wait()

    async with embedded_stack(tmp_path, durable=False) as stack:
        assert stack.postgres.running
        assert stack.database_url == parent.database_url
