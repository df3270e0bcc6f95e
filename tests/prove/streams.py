"""Streams: a thousand readers of events on one server, half of which read nothing."""

import asyncio
import socket
import time
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from tests.prove.figures import Figure, exactly, noted, within
from tests.prove.ground import ground

READERS: Final = 1_000
# Each asks the ledger where it begins; all at once would be another proof.
GROUP: Final = 50
TASKS: Final = 1_000
_MEGABYTE: Final = 1 << 20


class _Reader:
    """One client; a deaf one opens the stream and never reads from it."""

    def __init__(self, *, is_deaf: bool) -> None:
        self.is_deaf = is_deaf
        self.heard = 0
        self.is_served = asyncio.Event()
        self._socket: socket.socket | None = None

    async def follow(self, host: str, port: int) -> None:
        """Open the stream, and read it for ever unless deaf."""
        loop = asyncio.get_running_loop()
        connection = socket.socket()
        connection.setblocking(False)
        if self.is_deaf:
            # As little as the system allows, so that the server feels it soon.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._socket = connection
        await loop.sock_connect(connection, (host, port))
        await loop.sock_sendall(connection, f"GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        head = await loop.sock_recv(connection, 1024)
        assert b" 200 " in head, head
        self.is_served.set()
        if self.is_deaf:
            return
        rest = b""
        while received := await loop.sock_recv(connection, 1 << 16):
            *lines, rest = (rest + received).split(b"\n")
            self.heard += sum(line.startswith(b"event: task.completed") for line in lines)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


async def streams(folder: Path) -> list[Figure]:
    """Serve 1,000 readers of which half read nothing, while 1,000 tasks are done."""
    async with ground(folder) as place:
        api = await place.processes.serve()
        await place.processes.workers(2, concurrency=10)
        address = urlsplit(api.url)
        readers = [_Reader(is_deaf=bool(number % 2)) for number in range(READERS)]
        await api.submit("noop")
        before = _resident(api.process.pid)
        opened: list[asyncio.Task[None]] = []
        for first in range(0, READERS, GROUP):
            group = readers[first : first + GROUP]
            opened += [asyncio.create_task(one.follow(address.hostname or "", address.port or 0)) for one in group]
            async with asyncio.timeout(30):
                await asyncio.gather(*(one.is_served.wait() for one in group))
        one_more = await api.get("/api/events")
        idle = _resident(api.process.pid)
        began = time.monotonic()
        posts: list[float] = []
        for number in range(TASKS // 100):
            bodies = [{"taskType": "noop", "documentId": f"d{number}"} for _ in range(100)]
            at = time.monotonic()
            await api.submit_many(bodies)
            posts.append(time.monotonic() - at)
        await place.all_final(within=120)
        hearing = [one for one in readers if not one.is_deaf]
        try:
            async with asyncio.timeout(90):
                while min(one.heard for one in hearing) < TASKS:
                    await asyncio.sleep(0.1)
        except TimeoutError:
            pass
        took = time.monotonic() - began
        gone = sum(task.done() for task, one in zip(opened, readers, strict=True) if not one.is_deaf)
        grown = _resident(api.process.pid)
        live = (await api.get("/api/health/live")).status_code
        for one in readers:
            one.close()
        for task in opened:
            task.cancel()
        await asyncio.gather(*opened, return_exceptions=True)
        after = (await api.submit("noop"))["id"]
        ended = await api.final({"id": after})
        await api.aclose()
        return [
            exactly("1,000 streams: one more is refused with", one_more.status_code, 429),
            exactly(
                "1,000 streams: events that the slowest of 500 readers heard", min(one.heard for one in hearing), TASKS
            ),
            exactly("1,000 streams: readers that were cut off", gone, 0),
            noted("1,000 streams: until all had heard of 1,000 tasks", f"{took:.1f} s"),
            within("1,000 streams: 100 tasks posted meanwhile", [max(posts)], 5),
            noted(
                "1,000 streams: memory of the server before, with them, afterwards",
                f"{before} MB, {idle} MB, {grown} MB",
            ),
            exactly("1,000 streams: the server lives and works", (live, ended["state"]), (200, "COMPLETED")),
        ]


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096 // _MEGABYTE
