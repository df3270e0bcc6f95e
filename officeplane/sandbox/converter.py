"""The converter: PDF of documents by LibreOffice, started for one file at a time and gone with it.

LibreOffice is a million lines that were not written for files of strangers. So it is
confined as far as the kernel can (`officeplane.sandbox.conversion`), has a folder of its
own with a fresh profile that runs no macros and follows no links, and is killed with
all that belongs to it when it is done, when it takes too long, or when nobody waits for
it any more.
"""

import asyncio
import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import structlog

from officeplane.domain.document import Format, UnsupportedDocumentError
from officeplane.domain.errors import OverloadedError
from officeplane.domain.representation import ConverterMissingError
from officeplane.sandbox.confinement import Confinement, Layer
from officeplane.sandbox.conversion import FILE_BYTES, MADE, NOT_CONFINED, SOURCE, remove_pipe
from officeplane.sandbox.errors import NotConfinedError

CONVERSION: Final = "officeplane.sandbox.conversion"
CONVERSIONS_AT_ONCE_MAX: Final = 2
WAITING_MAX: Final = 8
WAIT_SECONDS_MAX: Final = 30.0
CONVERSION_SECONDS_MAX: Final = 60.0
_NEVER: Final = Layer.HIDDEN_MEMORY
"""The layer that no program keeps when it is started."""

_PLACES: Final = (
    "/usr/lib/libreoffice/program", "/usr/lib64/libreoffice/program", "/opt/libreoffice/program",
    "/Applications/LibreOffice.app/Contents/MacOS",
)  # fmt: skip
_log = structlog.stdlib.get_logger(__name__)


class Converter:
    """Converts a few files at a time; a few more may wait for their turn."""

    def __init__(self, required: Confinement = frozenset()) -> None:
        self._required = required - {_NEVER}
        self._turns = asyncio.Semaphore(CONVERSIONS_AT_ONCE_MAX)
        self._waiting = 0

    async def pdf(self, format: Format, blocks: AsyncIterable[bytes]) -> bytes:
        """Return the PDF of a file; one of which LibreOffice makes none is refused."""
        program = await asyncio.to_thread(installed)
        if program is None:
            raise ConverterMissingError
        async with self._turn(), _folder() as folder:
            with await asyncio.to_thread(Path(folder, f"{SOURCE}.{format}").open, "wb") as file:
                async for block in blocks:
                    await asyncio.to_thread(file.write, block)
            await self._run(folder, program)
            made = await asyncio.to_thread(made_file, Path(folder, MADE, f"{SOURCE}.pdf"))
        if made is None:
            raise _not_converted("LibreOffice makes no PDF of it")
        return made

    @asynccontextmanager
    async def _turn(self) -> AsyncGenerator[None]:
        if self._turns.locked() and self._waiting >= WAITING_MAX:
            raise OverloadedError(f"{WAITING_MAX} documents wait already for their PDF")
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_SECONDS_MAX):
                await self._turns.acquire()
        except TimeoutError:
            raise OverloadedError("LibreOffice has been at work for too long") from None
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._turns.release()

    async def _run(self, folder: str, program: str) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-m",
            CONVERSION,
            str(os.getpid()),
            folder,
            program,
            ",".join(sorted(self._required)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(CONVERSION_SECONDS_MAX):
                status = await process.wait()
        except TimeoutError:
            raise _not_converted(f"LibreOffice had not made a PDF of it within {CONVERSION_SECONDS_MAX:g} s") from None
        finally:
            # Once it has ended, its group's number may be anybody's; then nothing of it is left, for it starts nothing
            # but LibreOffice, which may start nothing and dies with it.
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await asyncio.shield(process.wait())
        if status == NOT_CONFINED:
            raise NotConfinedError(self._required)
        if status:
            _log.warning("conversion.failed", status=status)


def installed() -> str | None:
    """Return where the program of LibreOffice is, None where there is none; not the script that starts it."""
    named = [found for name in ("soffice", "libreoffice") if (found := shutil.which(name)) is not None]
    folders = [*(str(Path(found).resolve().parent) for found in named), *_PLACES]
    for folder in folders:
        for name in ("soffice.bin", "soffice"):
            program = Path(folder, name)
            if program.is_file() and os.access(program, os.X_OK) and _is_program(program):
                return str(program)
    return None


@asynccontextmanager
async def _folder() -> AsyncGenerator[str]:
    """Give a furnished folder that is gone afterwards, whatever has become of the conversion."""
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="officeplane-pdf-")
    try:
        await asyncio.to_thread(_furnish, Path(folder))
        yield folder
    finally:
        await asyncio.shield(asyncio.to_thread(_clear, folder))


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) != b"#!"


def _furnish(folder: Path) -> None:
    """Give LibreOffice a profile of its own, in which nothing is run, followed or asked for."""
    user = folder / "profile" / "user"
    user.mkdir(parents=True)
    (folder / MADE).mkdir()
    items = "".join(
        f'<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop>'
        "</item>"
        for path, name, value in _SETTINGS
    )
    (user / "registrymodifications.xcu").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<oor:items xmlns:oor="http://openoffice.org/2001/registry">'
        f"{items}</oor:items>\n",
        encoding="utf-8",
    )


_SETTINGS: Final = (
    ("Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("Office.Writer/Content/Update", "Link", "0"),
    ("Office.Calc/Content/Update", "Link", "1"),
    ("Office.Common/Misc", "CrashReport", "false"),
    ("Office.Common/Java/ApplicationJava", "Enable", "false"),
)


def _clear(folder: str) -> None:
    """Remove what is left of a conversion: its folder, and the socket that LibreOffice makes elsewhere."""
    shutil.rmtree(folder, ignore_errors=True)
    remove_pipe(folder)


def made_file(path: Path) -> bytes | None:
    """Return what was made, if it is a plain file that begins like a PDF: who has taken the program over may lie."""
    try:
        with open(path, "rb", opener=_opened) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            content = file.read(FILE_BYTES + 1)
    except OSError:
        return None
    return content if content.startswith(b"%PDF-") and len(content) <= FILE_BYTES else None


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _not_converted(why: str) -> UnsupportedDocumentError:
    return UnsupportedDocumentError("not_converted", f"There is no PDF of this document: {why}.")
