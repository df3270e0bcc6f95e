"""Strangers: uploads that are no files at all, and what each is told."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Mapping
from contextlib import suppress
from typing import Final

import httpx

from officeplane.api.rooms import DOCUMENT_BYTES_MAX
from officeplane.domain.document import Format
from officeplane.formats.blank import blank
from tests.fixtures.documents.minimal import minimal, zipped

Answer = tuple[int, str]
"""The status and the code of a refusal."""

_MEBIBYTE: Final = b"x" * 1024 * 1024


async def strangers(http: httpx.AsyncClient, documents: Mapping[Format, str]) -> list[str]:
    """Send each of them, and return what was answered in another way than is documented."""
    book, text = documents[Format.XLSX], documents[Format.DOCX]
    honest = zipped(minimal(Format.DOCX))
    # The head's own bytes are no condition's business.
    other = blank(Format.DOCX, "Another file")

    async def put(path: str, content: bytes | AsyncGenerator[bytes, None], **headers: str) -> Answer:
        answer = await http.put(f"/api/documents/{path}", content=content, headers=headers)
        return answer.status_code, answer.json().get("code")

    sent: dict[str, tuple[Awaitable[Answer], Answer]] = {
        "nothing": (put("stranger", b""), (415, "unsupported_document")),
        "text": (put("stranger", b"hello" * 1000), (415, "unsupported_document")),
        "more than is allowed, in chunks": (put("stranger", _too_much()), (413, "too_large")),
        "more than is allowed, as it says": (_declared_too_much(http), (413, "too_large")),
        "another format": (put(book, honest), (415, "unsupported_document")),
        "an id that is none": (put("-", honest), (422, "invalid_parameter")),
        "a long id": (put("a" * 129, honest), (422, "invalid_parameter")),
        "a condition that is none": (put(text, honest, **{"If-Match": "x"}), (422, "invalid_parameter")),
        "a condition that does not hold": (put(text, other, **{"If-Match": '"999"'}), (412, "stale_revision")),
    }
    answers = await asyncio.gather(*(asked for asked, _ in sent.values()))
    return [
        f"{name}: {answer}, not {promised}"
        for answer, (name, (_, promised)) in zip(answers, sent.items(), strict=True)
        if answer != promised
    ]


async def broken_off(http: httpx.AsyncClient, document_id: str) -> None:
    """Begin uploads and go away in the middle of them."""
    for sent in (b"", b"PK\3\4", _MEBIBYTE):
        reader, writer = await _asked(http, f"PUT /api/documents/{document_id}", 2 * len(_MEBIBYTE))
        with suppress(ConnectionError):
            writer.write(sent)
            await writer.drain()
            writer.transport.abort()
            await reader.read()
            await writer.wait_closed()


async def _too_much() -> AsyncGenerator[bytes, None]:
    for _ in range(DOCUMENT_BYTES_MAX // len(_MEBIBYTE) + 1):
        yield _MEBIBYTE


async def _declared_too_much(http: httpx.AsyncClient) -> Answer:
    """Say how much will come, send none of it, and hear at once."""
    reader, writer = await _asked(http, "PUT /api/documents/stranger", DOCUMENT_BYTES_MAX + 1)
    # As long as any other answer may take; a server that waited for what was announced would never give one.
    async with asyncio.timeout(60):
        status = int((await reader.readline()).split()[1])
        said = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    return status, "too_large" if '"code":"too_large"' in said.replace(" ", "") else said


async def _asked(
    http: httpx.AsyncClient, request: str, length: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(http.base_url.host, http.base_url.port)
    head = f"{request} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode())
    return reader, writer
