"""LibreOffice, where it is installed, as another program that reads and writes documents."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from officeplane.formats.package import Package

_SECONDS: Final = 200


def without_print_titles(data: bytes) -> bytes:
    """Return a workbook without titles on every printed page; LibreOffice 7.4 cannot load `hard` with them."""
    package = Package.read(data)
    names = package.content("xl/workbook.xml")
    package.put("xl/workbook.xml", re.sub(rb"<definedName name=._xlnm.Print_Titles.*?</definedName>", b"", names))
    return package.write().content()


def libreoffice() -> str:
    """Return the program; without it the test is skipped."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        pytest.skip("LibreOffice is not installed: `apt-get install libreoffice-{writer,calc,impress}-nogui`")
    home = Path(program).resolve().parent
    missing = [name for name in ("sw", "sc", "sd") if not (home / f"lib{name}lo.so").exists()]
    if missing:
        pytest.skip(
            f"LibreOffice is installed without lib{missing[0]}lo.so: one of Writer, Calc and Impress is missing"
        )
    return program


def convert(program: str, folder: Path, kind: str, names: str) -> None:
    """Have it write files of the folder `given` once more, as this kind."""
    done = subprocess.run(
        [
            program, "--headless", "--norestore", f"-env:UserInstallation=file://{folder}/profile",
            "--convert-to", kind, "--outdir", folder, *sorted((folder / "given").glob(names)),
        ],
        env={**os.environ, "HOME": str(folder)}, capture_output=True, text=True, timeout=_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
