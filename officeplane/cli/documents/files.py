"""`officeplane documents put`, `new`, `get` and `revert`: what moves files."""

import asyncio
import hashlib
import sys
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from officeplane.cli.answers import Document, Task
from officeplane.cli.client import Answer, Client, document_path, task_path
from officeplane.cli.console import remarks, show, write_json
from officeplane.cli.documents.merging import merged_lines
from officeplane.cli.documents.names import id_from
from officeplane.cli.documents.notes import Note, note, noted
from officeplane.cli.exits import ExitCode, RefusedError, UsageError
from officeplane.cli.tasks.bodies import without_nothing
from officeplane.cli.texts import compact
from officeplane.cli.user import user_name
from officeplane.domain.document import Format, file_name

NOT_FOUND = 404
CONVERSION_SECONDS = 90.0
"""How long a PDF may take, with what waits before it."""
COVERS_UP = frozenset({412, 428})


class Terms(NamedTuple):
    """Which revision a file is to follow, in whose name, and whether it is merged where others were quicker."""

    if_match: int | str | None = None
    by: str | None = None
    merges: bool = False


async def put_file(url: str, file: Path, document_id: str | None, terms: Terms, *, as_json: bool) -> None:
    """Upload a file and say which revision it became."""
    try:
        data = await asyncio.to_thread(file.read_bytes)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    chosen = document_id or _id_after(file, "give one, as in `officeplane documents put FILE plan`")
    async with Client(url) as client:
        known = noted(file)
        if terms.if_match is None and known is not None and await _is_of(known, client, chosen):
            terms = terms._replace(if_match=known.revision)
        answer = await _sent(client, chosen, data, terms._replace(by=terms.by or user_name()))
        if answer.status != 202:
            document = Document.model_validate_json(answer.content)
            # What was merged is not the file, which still follows the revision that it was made of.
            if document.merged is None:
                _keep(file, client.url, document.id, document.revision, data)
    if answer.status == 202 and not as_json:
        task = Task.model_validate_json(answer.content)
        show(f"{chosen} is busy; task {task.id} will put the file in place")
    else:
        _tell(answer, as_json=as_json)


async def make_document(url: str, name: str, by: str | None, *, as_json: bool) -> None:
    """Make an empty document and say so."""
    file = Path(name)
    try:
        kind = Format(file.suffix.removeprefix(".").lower())
    except ValueError:
        known = ", ".join(f".{one}" for one in Format)
        raise UsageError(f"{name!r} does not say what it is to be: let it end with one of {known}.") from None
    chosen = _id_after(file, "choose another name, such as plan.docx")
    body = compact({"id": chosen, "format": kind}).encode()
    author = by or user_name()
    async with Client(url) as client:
        answer = await client.post("/api/documents", body, query={} if author is None else {"author": author})
    _tell(answer, as_json=as_json)


def _id_after(file: Path, otherwise: str) -> str:
    """Return the id that a document has from a file's name, and say if that is another; `otherwise` is what to do."""
    chosen = id_from(file.stem)
    if not chosen:
        raise UsageError(f"No id can be made of {file.stem!r}: {otherwise}.")
    if chosen != file.stem:
        remarks().print(f"{file.stem!r} cannot be an id; the document's is {chosen}.")
    return chosen


def _tell(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        write_json(answer.text)
        return
    document = Document.model_validate_json(answer.content)
    show(f"{document.id} is at revision {document.revision}")
    if document.merged is not None:
        for line in merged_lines(document.merged, document.warnings):
            show(line)
        remarks().print(f"The file here is as it was: `officeplane documents get {document.id} --force` has both.")


async def _sent(client: Client, document_id: str, data: bytes, terms: Terms) -> Answer:
    path = document_path(document_id)
    if_match = terms.if_match
    query = {} if terms.by is None else {"author": terms.by}
    query |= {"onConflict": "merge"} if terms.merges else {}
    headers = {} if if_match is None else {"If-Match": "*" if if_match == "*" else f'"{if_match}"'}
    try:
        return await client.put(path, data, headers, query)
    except RefusedError as refusal:
        if refusal.status == NOT_FOUND and if_match == "*":
            # Whatever was to be covered up is not there.
            return await client.put(path, data, {}, query)
        if refusal.status == NOT_FOUND and if_match is not None:
            refusal.lines += ("It was there when you read it; --force makes it anew.",)
        elif refusal.status in COVERS_UP:
            there = f"`officeplane documents get {document_id} -o OTHER_FILE`"
            hint = f"Get what is there ({there}), bring your changes into it and put that; have it done with --merge"
            refusal.lines += (f"{hint}; or cover it up with --force.",)
        raise


async def _is_of(known: Note, client: Client, document_id: str) -> bool:
    """Tell whether a note is about this document, and not about one of this name in another installation."""
    if (known.url, known.document_id) != (client.url, document_id):
        return False
    try:
        there = Document.model_validate_json((await client.get(document_path(document_id))).content)
    except RefusedError:
        # The upload will be told what is the matter.
        return True
    return there.revision != known.revision or there.sha256 == known.sha256


def _keep(file: Path, url: str, document_id: str, revision: int, data: bytes) -> None:
    if not note(file, url, document_id, revision, data):
        remarks().print(f"Which revision {file} is could not be noted: to put it, say --if-match {revision}.")


class Wanted(NamedTuple):
    """Which revision of a document to get, as what if not as its file, and which sheet of it."""

    revision: int | None = None
    kind: str | None = None
    sheet: str | None = None


async def get_file(url: str, document_id: str, output: Path | None, wanted: Wanted, *, force: bool) -> None:
    """Download a file, say where it is, and note which revision, unless it was made of the file."""
    revision, kind, sheet = wanted
    given: dict[str, str | int | None] = {"revision": revision, "as": kind, "sheet": sheet}
    asked = {name: value for name, value in given.items() if value is not None}
    async with Client(url) as client:
        document = Document.model_validate_json((await client.get(document_path(document_id))).content)
        target = output or Path(file_name(document_id, kind or document.format).replace(":", "_"))
        is_new = target == Path("-") or await asyncio.to_thread(_refuse_to_overwrite, target, force=force)
        answer = await client.get(
            document_path(document_id, "/content"), asked, 0 if kind is None else CONVERSION_SECONDS
        )
    if target == Path("-"):
        sys.stdout.buffer.write(answer.content)
        return
    try:
        await asyncio.to_thread(_write, target, answer.content, is_new=is_new)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from None
    got = answer.revision or revision or document.revision
    if kind is None:
        _keep(target, client.url, document_id, got, answer.content)
    remarks().print(f"{target}: {len(answer.content):,} bytes, revision {got}")


def _refuse_to_overwrite(target: Path, *, force: bool) -> bool:
    """Refuse if a file may hold what is nowhere else, and tell whether there is none."""
    try:
        data = target.read_bytes()
    except FileNotFoundError:
        return True
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from None
    known = noted(target)
    if not force and (known is None or known.sha256 != hashlib.sha256(data).hexdigest()):
        raise RefusedError(
            f"{target} is there already and may hold what is nowhere else: give another --output, or --force."
        )
    return False


def _write(target: Path, data: bytes, *, is_new: bool) -> None:
    # Who has made the file since it was looked for is not overwritten either.
    with target.open("xb" if is_new else "wb") as file:
        file.write(data)


async def get_picture(url: str, document_id: str, node_id: str, output: Path, revision: int | None) -> None:
    """Write the bytes of a picture to a file that is not there yet, and say so."""
    query = {} if revision is None else {"revision": revision}
    async with Client(url) as client:
        answer = await client.get(document_path(document_id, f"/images/{quote(node_id, safe='')}"), query)
    if output == Path("-"):
        sys.stdout.buffer.write(answer.content)
        return
    try:
        await asyncio.to_thread(_write, output, answer.content, is_new=True)
    except FileExistsError:
        raise RefusedError(f"{output} is there already: give another --output.") from None
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from None
    remarks().print(f"{output}: {len(answer.content):,} bytes")


async def revert_document(
    url: str, document_id: str, revision: int, wait: float, by: str | None, *, as_json: bool
) -> int:
    """Return to an earlier revision and say how that ended."""
    body = compact(without_nothing({"toRevision": revision, "onBehalfOf": by or user_name()})).encode()
    async with Client(url) as client:
        task = Task.model_validate_json((await client.post(document_path(document_id, "/revert"), body)).content)
        answer = await client.get(task_path(task.id), {"wait": str(wait)}, wait)
    if as_json:
        write_json(answer.text)
    task = Task.model_validate_json(answer.content)
    if not as_json:
        why = "" if task.error is None else f": {task.error.message}"
        show(f"{task.id} is {task.state}{why}")
    return ExitCode.DONE if task.is_completed else ExitCode.REFUSED
