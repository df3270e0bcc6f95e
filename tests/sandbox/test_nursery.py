"""The nursery: when its owner is gone, so are it and all its children, at whatever moment that comes."""

import asyncio
import os
import signal
import socket
import sys

from officeplane.sandbox.nursery_protocol import BIRTH, NUMBER
from tests.neighbours import REFUSED, seen_of, without_rights
from tests.sandbox.processes import asleep, gone


async def test_a_nursery_whose_owner_dies_in_the_middle_of_a_birth_ends_quietly_with_its_children() -> None:
    owner, owned = socket.socketpair()
    with owned:
        nursery = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-m",
            "officeplane.sandbox.nursery",
            str(owned.fileno()),
            "strict",
            pass_fds=(owned.fileno(),),
            stderr=asyncio.subprocess.PIPE,
        )
    spoken_to, served = socket.socketpair()
    with spoken_to, served, owner:
        owner.setblocking(False)
        socket.send_fds(owner, [BIRTH], [served.fileno()])
        (child,) = NUMBER.unpack(await asyncio.get_running_loop().sock_recv(owner, NUMBER.size))
        os.kill(nursery.pid, signal.SIGSTOP)
        await asleep(nursery.pid)

        socket.send_fds(owner, [BIRTH], [served.fileno()])
        owner.close()
        os.kill(nursery.pid, signal.SIGCONT)

        _, said = await nursery.communicate()
        assert (nursery.returncode, said) == (0, b"")
        await gone(child)


OWNER = """
import asyncio
from officeplane.sandbox.births import Births

async def main():
    births = Births(frozenset())
    child = await births.born()
    print(child.nursery._process.pid, child.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_a_neighbour_gets_at_nothing_of_a_nursery_and_of_its_children() -> None:
    owner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", OWNER, stdout=asyncio.subprocess.PIPE, preexec_fn=without_rights
    )
    try:
        assert owner.stdout is not None
        nursery, child = map(int, (await owner.stdout.readline()).split())

        seen = [seen_of(pid) for pid in (nursery, child)]
    finally:
        owner.kill()
        await owner.wait()

    assert [set(one.values()) <= REFUSED for one in seen] == [True, True], seen
    await gone(nursery, child)
