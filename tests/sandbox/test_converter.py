"""PDF by LibreOffice: made confined, and nothing of it is left."""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from functools import partial
from pathlib import Path

import pytest

from officeplane.domain.document import Format, UnsupportedDocumentError
from officeplane.domain.errors import OverloadedError
from officeplane.sandbox import conversion, converter
from officeplane.sandbox.confinement import Layer
from officeplane.sandbox.converter import Converter
from officeplane.sandbox.errors import NotConfinedError
from tests.fixtures.documents import excel, powerpoint, word
from tests.fixtures.documents.linked import linked_text
from tests.support import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

MADE: dict[Format, Callable[[], bytes]] = {
    Format.DOCX: word.chapters,
    Format.XLSX: excel.plain,
    Format.PPTX: powerpoint.plain,
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which conversions have theirs, on a machine with LibreOffice."""
    if converter.installed() is None:
        pytest.skip("LibreOffice is not installed: `apt-get install libreoffice-{writer,calc,impress}-nogui`")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


async def blocks(data: bytes) -> AsyncGenerator[bytes, None]:
    for at in range(0, len(data), 1000):
        yield data[at : at + 1000]


def processes(folder: Path) -> list[str]:
    """Return the commands of processes that have to do with a folder."""
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in command and "officeplane-pdf-" in command:
            found.append(command)
    return found


def is_clean(folder: Path) -> bool:
    return not [*folder.iterdir()] and not processes(folder)


async def under_way(folder: Path) -> "asyncio.Task[bytes]":
    """Return a conversion that LibreOffice is at, and that has not ended before anybody looked."""
    while True:
        asking = asyncio.create_task(Converter().pdf(Format.DOCX, blocks(word.chapters())))
        await eventually(partial(has_begun, asking, folder), within=60, what="LibreOffice")
        if not asking.done():
            return asking
        await asking


def has_begun(asking: "asyncio.Task[bytes]", folder: Path) -> bool:
    return asking.done() or any(conversion.pipes_of(str(own)) for own in folder.iterdir())


@pytest.mark.parametrize("format", Format)
async def test_a_document_becomes_a_pdf_and_nothing_is_left_of_the_conversion(folder: Path, format: Format) -> None:
    made = await Converter().pdf(format, blocks(MADE[format]()))

    assert made.startswith(b"%PDF-")
    assert is_clean(folder)


async def test_it_is_made_under_every_layer_that_a_program_can_keep(folder: Path) -> None:
    made = await Converter(frozenset(Layer) - {Layer.NAMESPACES}).pdf(Format.DOCX, blocks(word.chapters()))

    assert made.startswith(b"%PDF-")


async def test_without_a_layer_that_is_asked_for_nothing_is_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converter, "CONVERSION", "tests.sandbox.without_landlock")

    with pytest.raises(NotConfinedError, match="landlock"):
        await Converter(frozenset({Layer.LANDLOCK})).pdf(Format.DOCX, blocks(word.chapters()))

    assert is_clean(folder)


async def test_what_takes_too_long_is_ended_with_all_that_belongs_to_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converter, "CONVERSION_SECONDS_MAX", 0.3)

    with pytest.raises(UnsupportedDocumentError, match=r"within 0.3 s") as raised:
        await Converter().pdf(Format.DOCX, blocks(word.chapters()))

    assert raised.value.reason == "not_converted"
    assert is_clean(folder)


async def test_who_hangs_up_leaves_nothing_behind(folder: Path) -> None:
    asking = await under_way(folder)
    (own,) = folder.iterdir()

    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)

    assert asking.cancelled()
    assert is_clean(folder)
    assert not conversion.pipes_of(str(own))


async def test_a_few_are_made_at_once_and_a_few_wait(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converter, "WAITING_MAX", 1)
    # Two conversions at once may keep the third waiting for longer than usual where others are at work, too.
    monkeypatch.setattr(converter, "WAIT_SECONDS_MAX", 150.0)
    one = Converter()
    asking = [asyncio.ensure_future(one.pdf(Format.DOCX, blocks(word.chapters()))) for _ in range(4)]

    answers = await asyncio.gather(*asking, return_exceptions=True)

    assert sum(isinstance(answer, bytes) for answer in answers) == 3
    assert [str(answer) for answer in answers if isinstance(answer, OverloadedError)] == [
        "1 documents wait already for their PDF"
    ]
    assert is_clean(folder)


async def test_what_libreoffice_cannot_read_is_refused(folder: Path) -> None:
    with pytest.raises(UnsupportedDocumentError, match="makes no PDF") as raised:
        await Converter().pdf(Format.DOCX, blocks(b"PK\3\4 no document"))

    assert raised.value.reason == "not_converted"


async def test_what_a_document_links_to_is_not_fetched(folder: Path) -> None:
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.read(1000))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        made = await Converter().pdf(Format.DOCX, blocks(linked_text(f"http://127.0.0.1:{port}/picture.png")))

    assert made.startswith(b"%PDF-")
    assert asked == []


ATTEMPTS = """
import json, os, signal, socket, sys
from officeplane.sandbox import conversion, namespaces
folder, secret, port, has_namespaces = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "yes"
layers = conversion.confine(os.getppid(), folder, sys.executable, has_namespaces=False)
def attempt(name, what):
    try:
        what()
        told[name] = "done"
    except OSError as error:
        told[name] = type(error).__name__
    except Exception as error:
        told[name] = repr(error)
told = {"layers": sorted(layers)}
attempt("write here", lambda: open(folder + "/here", "w").write("x"))
attempt("read a secret", lambda: open(secret).read())
attempt("list its folder", lambda: os.listdir(os.path.dirname(secret)))
attempt("read passwords", lambda: open("/etc/shadow").read())
attempt("read its owner's environment", lambda: open(f"/proc/{os.getppid()}/environ", "rb").read())
attempt("write elsewhere", lambda: open(secret + ".new", "w").write("x"))
attempt("remove", lambda: os.unlink(secret))
attempt("link out", lambda: os.symlink(secret, folder + "/link"))
attempt("connect", lambda: socket.create_connection(("127.0.0.1", port), 1))
attempt("a socket of the network", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("a socket of the kernel", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("connect to a file", lambda: socket.socket(socket.AF_UNIX).connect(secret + ".socket"))
attempt("fork", os.fork)
attempt("start a program", lambda: os.posix_spawn("/bin/true", ["true"], {}))
attempt("leave the group", os.setsid)
attempt("kill its owner", lambda: os.kill(os.getppid(), 0))
attempt("namespaces", lambda: os.unshare(0x10000000) if hasattr(os, "unshare") else namespaces._cloned(0x10000000))
print(json.dumps(told))
"""


def test_who_takes_libreoffice_over_gains_nothing(tmp_path: Path) -> None:
    own, outside = tmp_path / "own", tmp_path / "outside"
    own.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(outside / "secret.socket"))
        local.listen()
        arguments = [str(own), str(outside / "secret"), str(server.getsockname()[1]), "no"]
        ended = subprocess.run(
            [sys.executable, "-c", ATTEMPTS, *arguments], capture_output=True, text=True, check=True, timeout=60
        )

    told = json.loads(ended.stdout)
    assert told.pop("layers") == ["landlock", "limits", "no privileges", "seccomp"]
    assert told.pop("write here") == "done"
    assert {name: said for name, said in told.items() if said != "PermissionError"} == {
        "a socket of the network": "OSError",
        "a socket of the kernel": "OSError",
        "connect": "OSError",
    }
    assert (outside / "secret").read_text() == "secret"


def test_what_was_made_is_a_plain_file_that_begins_like_a_pdf(tmp_path: Path) -> None:
    secret, link, other, pipe, good = (tmp_path / name for name in ("secret", "link", "other", "pipe", "good"))
    secret.write_bytes(b"%PDF-secret")
    link.symlink_to(secret)
    other.write_bytes(b"MZ")
    os.mkfifo(pipe)
    good.write_bytes(b"%PDF-1.6 and so on")

    made = [converter.made_file(path) for path in (link, other, pipe, tmp_path / "missing", tmp_path, good)]

    assert made == [None, None, None, None, None, b"%PDF-1.6 and so on"]


def test_a_script_that_starts_libreoffice_is_not_what_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "soffice"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(converter, "_PLACES", ())

    assert converter.installed() is None

    shutil.copy("/bin/true", tmp_path / "soffice.bin")
    assert converter.installed() == str(tmp_path / "soffice.bin")


def test_the_socket_of_a_conversion_is_removed_and_no_other(tmp_path: Path) -> None:
    other = Path(f"/tmp/OSL_PIPE_0_SingleOfficeIPC_{os.getpid()}")  # noqa: S108 - where LibreOffice has them
    other.touch()
    try:
        conversion.remove_pipe(str(tmp_path))
        assert other.exists()
    finally:
        other.unlink()
