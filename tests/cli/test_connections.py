"""Callers that send slowly, endlessly or not at all, or do not read: raw sockets against the real server."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.cli.conftest import OBJECT, ROOT, Background, Plane, Tasks
from tests.forks import Fork, Forks
from tests.support import eventually

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

HALF_A_HEAD = b"GET /api/tasks HTTP/1.1\r\nHost: localhost\r\nX-Half: "
JSON = b"Host: localhost\r\nContent-Type: application/json\r\n"
HEAD = b"GET /api/health/live HTTP/1.1\r\nHost: localhost\r\n"
UPLOAD = b"PUT /api/documents/slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000000\r\n\r\n"
SUBMISSION = b"POST /api/tasks HTTP/1.1\r\n" + JSON + b"Content-Length: 90000\r\n\r\n"
EVENTS = b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
ESTABLISHED = "01"
IMPATIENT = "tests.cli.impatient"
LARGE_BYTES = 1_600_000
LARGE = b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\n"
TIMES = 12
"""So many large answers are more than what the kernels of two ends keep."""

SECONDS = 40
"""For what takes two: this machine may be busy."""


@asynccontextmanager
async def serving(
    forks: Forks, tmp_path: Path, plane: Plane, limits: Mapping[str, float], shell: str = ""
) -> AsyncGenerator[Background]:
    """The API within limits, perhaps started by a shell that says something first."""
    out, err = tmp_path / "out", tmp_path / "err"
    process: Fork | asyncio.subprocess.Process
    if shell:
        command = (sys.executable, "-m", IMPATIENT, json.dumps(limits))
        with out.open("w") as out_file, err.open("w") as err_file:
            process = await asyncio.create_subprocess_exec(
                "sh", "-c", f'{shell}; exec "$@"', "sh", *command,
                cwd=ROOT, env={**os.environ, **plane.env}, stdout=out_file, stderr=err_file,
            )  # fmt: skip
    else:
        for file in (out, err):
            file.touch()
        process = await forks.begin([json.dumps(limits)], plane.env, out, err, program=IMPATIENT)
    server = Background(process, out, err)
    try:
        # One that a shell starts has everything to import.
        await eventually(lambda: server.address, within=120, what="the API")
        yield server
        assert await server.stop() == 0
        assert "Traceback" not in err.read_text()
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
            await process.wait()


@asynccontextmanager
async def connected(url: str, first: bytes = b"") -> AsyncGenerator[Streams]:
    address = httpx.URL(url)
    reader, writer = await asyncio.open_connection(address.host, address.port, limit=1024)
    try:
        writer.write(first)
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    """What comes until the server hangs up."""
    came = b""
    async with asyncio.timeout(SECONDS):
        # A broken pipe, too, is how we hear that it has hung up, if we were about to write.
        with suppress(ConnectionError):
            while some := await reader.read(65_536):
                came += some
    return came


async def problem_in(reader: asyncio.StreamReader) -> tuple[int, str]:
    head, _, body = (await rest_of(reader)).partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head.lower()
    assert b"x-content-type-options: nosniff" in head.lower()
    return int(head.split()[1]), str(OBJECT.validate_json(body)["code"])


async def is_alive(url: str) -> bool:
    async with httpx.AsyncClient(base_url=url, timeout=SECONDS) as client:
        return (await client.get("/api/tasks?limit=1")).status_code == 200


def spools_of(server: Background) -> int:
    """How many files without a name a process has open."""
    count = 0
    for file in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(OSError):
            count += str(file.readlink()).endswith("(deleted)")
    return count


def is_held(ours: asyncio.StreamWriter) -> bool:
    """Tell whether the other end of a connection still has it open."""
    # One port of ours may be that of connections to several servers.
    ends = [f":{ours.get_extra_info(end)[1]:04X}" for end in ("peername", "sockname")]
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    return any([row[1][-5:], row[2][-5:]] == ends and row[3] == ESTABLISHED for row in rows)


@pytest.mark.parametrize("shell", ["ulimit -Sn 1024", "ulimit -n 1024"])
async def test_a_thousand_half_open_connections_do_not_make_the_api_unreachable(
    forks: Forks, tmp_path: Path, plane: Plane, shell: str
) -> None:
    async with serving(forks, tmp_path, plane, {"head_seconds": 3600}, shell) as server, AsyncExitStack() as opened:
        for _ in range(1_020):
            await opened.enter_async_context(connected(server.address, HALF_A_HEAD))

        assert await is_alive(server.address)


async def test_while_all_connections_are_busy_no_other_takes_a_place(
    forks: Forks, tmp_path: Path, plane: Plane
) -> None:
    async with serving(forks, tmp_path, plane, {"connections": 2}) as server, AsyncExitStack() as opened:
        for _ in range(2):
            events, _ = await opened.enter_async_context(connected(server.address, EVENTS))
            await events.readuntil(b"connected")

        # None of them hangs up, so what was refused goes on counting for a while.
        others = [await opened.enter_async_context(connected(server.address, HEAD + b"\r\n")) for _ in range(4)]

        assert [await problem_in(reader) for reader, _ in others] == [(429, "overloaded")] * 4


@pytest.mark.parametrize("drop", [b"x", b"\r\n"])
async def test_a_head_that_trickles_has_its_time(forks: Forks, tmp_path: Path, plane: Plane, drop: bytes) -> None:
    async with serving(forks, tmp_path, plane, {"head_seconds": 2}) as server:
        first = HALF_A_HEAD if drop == b"x" else b""
        async with connected(server.address, first) as (reader, writer):
            ending = asyncio.ensure_future(problem_in(reader))
            while not ending.done():
                with suppress(ConnectionError):
                    writer.write(drop)
                    await writer.drain()
                await asyncio.wait({ending}, timeout=0.2)

            assert await ending == (408, "request_timeout")


async def test_a_connection_on_which_nothing_is_asked_ends_without_a_word(
    forks: Forks, tmp_path: Path, plane: Plane
) -> None:
    async with (
        serving(forks, tmp_path, plane, {"head_seconds": 2}) as server,
        connected(server.address) as (reader, _),
    ):
        assert await rest_of(reader) == b""


async def test_a_later_request_of_a_connection_has_no_more_time(forks: Forks, tmp_path: Path, plane: Plane) -> None:
    async with (
        serving(forks, tmp_path, plane, {"head_seconds": 2}) as server,
        connected(server.address, HEAD + b"\r\n") as (reader, writer),
    ):
        assert await reader.readexactly(len(ANSWER)) == ANSWER
        await reader.readuntil(b'{"status":"ok"}')

        writer.write(HALF_A_HEAD)

        assert await problem_in(reader) == (408, "request_timeout")


async def test_headers_have_a_size(plane: Plane) -> None:
    name = b"X-Large: "
    fitting = 64 * 1024 - len(b"/api/health/live") - len("Hostlocalhost") - 4 - len("X-LargeConnectionclose") - 8
    for size, status in ((fitting, b"200"), (fitting + 1, b"431")):
        async with connected(plane.url, HEAD + b"Connection: close\r\n" + name + b"x" * size + b"\r\n\r\n") as (
            reader,
            _,
        ):
            assert (await rest_of(reader)).split()[1] == status


async def test_what_comes_behind_headers_that_are_too_large_is_not_done(
    forks: Forks, tmp_path: Path, plane: Plane
) -> None:
    async with httpx.AsyncClient(base_url=plane.url, timeout=SECONDS) as client:
        made = (await client.post("/api/documents", json={"format": "docx"})).json()["id"]
        behind = b"DELETE /api/documents/%b HTTP/1.1\r\nHost: localhost\r\n\r\n" % made.encode()
        async with serving(forks, tmp_path, plane, {"head_bytes": 1000}) as server:
            large = HEAD + b"X-Large: " + b"x" * 1000 + b"\r\n\r\n"
            async with connected(server.address, large + behind) as (reader, _):
                assert await problem_in(reader) == (431, "headers_too_large")

        # That server has ended, with whatever it was at.
        assert (await client.get(f"/api/documents/{made}")).status_code == 200


@pytest.mark.parametrize("part", [b"x" * 65_536, b"X-Many: x\r\n" * 6_000])
async def test_headers_without_end_are_not_kept(plane: Plane, part: bytes) -> None:
    async with connected(plane.url, HALF_A_HEAD[:-8]) as (reader, writer):
        ending = asyncio.ensure_future(problem_in(reader))
        writer.write(b"X-Many: ")
        for _ in range(1_000):
            with suppress(ConnectionError):
                writer.write(part)
                await writer.drain()
            if ending.done():
                break

        assert await ending == (431, "headers_too_large")


async def test_trailers_without_end_are_not_kept(plane: Plane) -> None:
    head = b"POST /api/task-types/noop/resume HTTP/1.1\r\n" + JSON + b"Transfer-Encoding: chunked\r\n\r\n0\r\n"
    async with connected(plane.url, head) as (reader, writer):
        ending = asyncio.ensure_future(problem_in(reader))
        for _ in range(1_000):
            with suppress(ConnectionError):
                writer.write(b"X-Many: x\r\n" * 6_000)
                await writer.drain()
            if ending.done():
                break

        assert await ending == (431, "headers_too_large")


@pytest.mark.parametrize("head", [UPLOAD, SUBMISSION])
async def test_a_body_that_trickles_is_not_waited_for(forks: Forks, tmp_path: Path, plane: Plane, head: bytes) -> None:
    async with (
        serving(forks, tmp_path, plane, {"slow_seconds": 2}) as server,
        connected(server.address, head + b"{") as (reader, writer),
    ):
        if head == UPLOAD:
            await eventually(lambda: spools_of(server))
        ending = asyncio.ensure_future(problem_in(reader))
        while not ending.done():
            with suppress(ConnectionError):
                writer.write(b" ")
                await writer.drain()
            await asyncio.wait({ending}, timeout=0.2)

        assert await ending == (408, "request_timeout")
        await eventually(lambda: not spools_of(server))
        assert await is_alive(server.address)


async def test_a_body_has_a_time_however_quickly_it_goes_on(forks: Forks, tmp_path: Path, plane: Plane) -> None:
    async with (
        serving(forks, tmp_path, plane, {"body_seconds": 2, "slow_bytes_per_second": 1}) as server,
        connected(server.address, UPLOAD) as (reader, writer),
    ):
        ending = asyncio.ensure_future(problem_in(reader))
        while not ending.done():
            with suppress(ConnectionError):
                writer.write(b"x" * 100)
                await writer.drain()
            await asyncio.wait({ending}, timeout=0.1)

        assert await ending == (408, "request_timeout")


async def test_a_large_body_has_more_time(forks: Forks, tmp_path: Path, plane: Plane) -> None:
    limits = {"body_seconds": 2, "body_seconds_per_mib": 100}
    async with (
        serving(forks, tmp_path, plane, limits) as server,
        connected(server.address, SUBMISSION + b"[" * 80_000) as (reader, writer),
        connected(server.address, SUBMISSION + b"[") as (other, _),
    ):
        # The one that sent next to nothing is given up; the other may still end its body.
        assert await problem_in(other) == (408, "request_timeout")
        writer.write(b"[" * 10_000)
        async with asyncio.timeout(SECONDS):
            assert (await reader.readline()).split()[1] == b"400"


async def test_an_answer_that_nobody_reads_is_cut_off(forks: Forks, tmp_path: Path, plane: Plane) -> None:
    async with (
        serving(forks, tmp_path, plane, {"unread_seconds": 2}) as server,
        connected(server.address, EVENTS) as (events, _),
        connected(server.address, LARGE * TIMES) as (reader, writer),
    ):
        await events.readuntil(b"connected")
        await reader.readuntil(b"\r\n\r\n")

        await eventually(lambda: not is_held(writer), within=SECONDS, what="the end of the unread one")

        assert len(await rest_of(reader)) < LARGE_BYTES * TIMES
        # One that had nothing to read for as long is still there, and hears what happens next.
        async with httpx.AsyncClient(base_url=server.address, timeout=SECONDS) as client:
            task = await client.post("/api/tasks", json={"taskType": "noop"})
        async with asyncio.timeout(SECONDS):
            await events.readuntil(task.json()["id"].encode())


async def test_a_slow_reader_reads_to_the_end(forks: Forks, tmp_path: Path, plane: Plane) -> None:
    async with serving(forks, tmp_path, plane, {"unread_seconds": 5}) as server:
        last = LARGE[:-2] + b"Connection: close\r\n\r\n"
        async with connected(server.address, LARGE * (TIMES - 1) + last) as (reader, _):
            came = 0
            for _ in range(50):
                came += len(await reader.read(100_000))
                # This is what the test is about: a reader that takes its time.
                await asyncio.sleep(0.2)

            came += len(await rest_of(reader))

            assert came > LARGE_BYTES * TIMES


async def test_what_is_no_http_is_told_so(plane: Plane) -> None:
    for nonsense in (b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n"):
        async with connected(plane.url, nonsense) as (reader, _):
            assert await problem_in(reader) == (400, "malformed_request")


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://evil.example/api/tasks", "localhost", 421),
        ("http://localhost/api/tasks", "evil.example", 200),
        ("http://localhost@evil.example/api/tasks", "localhost", 421),
        ("http://[::1]:8001/api/tasks", "evil.example", 200),
        ("http://[::2]:8001/api/tasks", "localhost", 421),
        ("/api/tasks\r\nHost: localhost", "localhost", 421),
    ],
)
async def test_the_host_of_an_absolute_target_overrules_the_header(
    plane: Plane, target: str, host: str, status: int
) -> None:
    line, _, more = target.partition("\r\n")
    head = "\r\n".join(
        [f"GET {line} HTTP/1.1", f"Host: {host}", *([more] if more else []), "Connection: close", "", ""]
    )
    async with connected(plane.url, head.encode()) as (reader, _):
        assert (await rest_of(reader)).split()[1] == str(status).encode()


async def test_nothing_else_is_spoken_than_http(plane: Plane) -> None:
    upgrade = (
        b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MTIz\r\n\r\n"
    )
    async with connected(plane.url, HEAD + upgrade) as (reader, _):
        async with asyncio.timeout(SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\nserver:" not in head.lower()


async def test_who_decided_is_not_whom_a_header_names(plane: Plane, tasks: Tasks) -> None:
    failed = await tasks.submit("cli.fail", maxRetries=0)
    async with httpx.AsyncClient(base_url=plane.url, timeout=30) as client:
        # What a proxy has passed on is not local, whatever the headers say.
        made = await client.post("/api/keys", json={"name": "decider", "scopes": ["control"]})
        key = made.json()["key"]

        async def resolved() -> dict[str, object] | None:
            answer = await client.post(
                f"/api/dead-letters/{failed}/resolve",
                json={"resolution": "cancel"},
                headers={
                    "Authorization": f"Bearer {key}",
                    "X-Forwarded-For": "127.0.0.1",
                    "Forwarded": "for=203.0.113.9",
                },
            )
            return {**OBJECT.validate_json(answer.content)} if answer.status_code == 200 else None

        letter = await eventually(resolved)

    assert letter["resolvedBy"] == "key:decider"
