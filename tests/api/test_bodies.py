"""Bodies as bytes: JSON and nothing else, within limits."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import pytest
from starlette.types import Message

from tests.api.client import Api, code_of

MIB = 1024 * 1024

MALFORMED = {
    "nothing": b"",
    "blanks": b"  \n",
    "half an object": b'{"taskType": "noop"',
    "two values": b'{"taskType": "noop"} {}',
    "a trailing comma": b'{"taskType": "noop",}',
    "single quotes": b"{'taskType': 'noop'}",
    "a comment": b'{"taskType": "noop"} // now',
    "a byte order mark": b'\xef\xbb\xbf{"taskType": "noop"}',
    "bytes that are not UTF-8": b'{"taskType": "noop", "title": "\xff"}',
    "UTF-16": '{"taskType": "noop"}'.encode("utf-16"),
    "a surrogate in UTF-8": b'{"taskType": "noop", "title": "\xed\xa0\x80"}',
    "a name twice": b'{"taskType": "noop", "title": "a", "title": "b"}',
    "a name twice, deep down": b'{"taskType": "noop", "payload": {"a": [{"b": 1, "b": 1}]}}',
    "a name twice, spelt differently": b'{"taskType": "noop", "title": "a", "t\\u0069tle": "b"}',
    "NaN": b'{"taskType": "noop", "timeoutSeconds": NaN}',
    "infinity": b'{"taskType": "noop", "timeoutSeconds": Infinity}',
    "minus infinity": b'{"taskType": "noop", "payload": {"a": -Infinity}}',
    "a number too large for a float": b'{"taskType": "noop", "timeoutSeconds": 1e999}',
    "an integer beyond 2^53": b'{"taskType": "noop", "maxRetries": 9007199254740993}',
    "an integer of 10,000 digits": b'{"taskType": "noop", "maxRetries": ' + b"9" * 10_000 + b"}",
    "a leading zero": b'{"taskType": "noop", "maxRetries": 03}',
    "a raw control character": b'{"taskType": "noop", "title": "a\x01b"}',
    "NUL": b'{"taskType": "noop", "title": "a\\u0000b"}',
    "NUL, raw": b'{"taskType": "noop", "title": "a\x00b"}',
    "NUL in a name": b'{"taskType": "noop", "payload": {"a\\u0000b": 1}}',
    "NUL in a list": b'{"taskType": "noop", "tags": ["a", "\\u0000"]}',
    "a lone high surrogate": b'{"taskType": "noop", "title": "\\ud800"}',
    "a lone low surrogate": b'{"taskType": "noop", "payload": {"a": ["\\udc00"]}}',
    "surrogates in the wrong order": b'{"taskType": "noop", "title": "\\udc00\\ud800"}',
    "65 lists in one another": b"[" * 65 + b"]" * 65,
    "65 objects in one another": b'{"payload":' * 64 + b"{}" + b"}" * 64,
    "100,000 lists in one another": b"[" * 100_000 + b"]" * 100_000,
    "500,000 opened lists": b"[" * 500_000,
}


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED.keys())
@pytest.mark.parametrize("path", ["/api/tasks", "/api/tasks/bulk"])
async def test_a_body_that_readers_could_understand_differently_is_refused(api: Api, raw: bytes, path: str) -> None:
    before = await api.rows()

    response = await api.post(path, raw=raw)

    assert code_of(response) == (400, "malformed_json")
    assert await api.rows() == before


async def test_a_large_malformed_body_is_refused_alike(api: Api) -> None:
    raw = json.dumps([{"taskType": "noop", "title": "a" * 190}] * 4_000).encode()[:-1] + b', {"a": 1, "a": 2}]'

    assert code_of(await api.post("/api/tasks/bulk", raw=raw)) == (400, "malformed_json")


@pytest.mark.parametrize("text", ["\\u00e9", "\\ud83d\\ude00", "\\\\u0000", "\\\\ud800", "ä😀", "\\u007f"])
async def test_every_storable_text_comes_back_as_it_was(api: Api, text: str) -> None:
    raw = f'{{"taskType": "noop", "title": "{text}"}}'.encode()

    response = await api.post("/api/tasks", raw=raw)

    assert response.json()["title"] == json.loads(raw)["title"]


async def test_a_body_may_be_64_deep(api: Api) -> None:
    # It is JSON; what is wrong with it is that `noop` has no such field.
    raw = b'{"taskType": "noop", "payload": {"a": ' + b"[" * 62 + b"]" * 62 + b"}}"

    assert code_of(await api.post("/api/tasks", raw=raw)) == (422, "invalid_payload")


@pytest.mark.parametrize("media_type", ["application/json", "Application/JSON; charset=utf-8", "application/foo+json"])
async def test_json_is_taken_under_each_of_its_names(api: Api, media_type: str) -> None:
    response = await api.post("/api/tasks", raw=b'{"taskType": "noop"}', headers={"Content-Type": media_type})

    assert response.status_code == 201


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml", "", "json"]
)
@pytest.mark.parametrize("path", ["/api/tasks", "/api/tasks/bulk", "/api/tasks/{id}/cancel", "/api/tasks/{id}/retry"])
async def test_what_does_not_call_itself_json_is_refused_unread(api: Api, media_type: str, path: str) -> None:
    task = await api.submit()
    before = await api.rows()

    response = await api.post(
        path.format(id=task["id"]), raw=b'{"taskType": "noop"}', headers={"Content-Type": media_type}
    )

    assert code_of(response) == (415, "unsupported_media_type")
    assert await api.rows() == before


def padded(size: int, *, bulk: bool = False) -> bytes:
    """A good body of exactly this size."""
    start, end = (b'[{"taskType": "noop"}', b"]") if bulk else (b'{"taskType": "noop"', b"}")
    return start + b" " * (size - len(start) - len(end)) + end


@pytest.mark.parametrize(("path", "limit"), [("/api/tasks", MIB), ("/api/tasks/bulk", 16 * MIB)])
async def test_a_body_of_the_size_of_the_limit_is_taken_and_one_byte_more_is_not(
    api: Api, path: str, limit: int
) -> None:
    before = await api.rows()
    bulk = path.endswith("bulk")

    taken = await api.post(path, raw=padded(limit, bulk=bulk))
    refused = await api.post(path, raw=padded(limit + 1, bulk=bulk))

    assert taken.status_code == 201
    assert code_of(refused) == (413, "too_large")
    assert await api.rows() == before + 1


async def test_a_chunked_body_is_counted_while_it_comes(api: Api) -> None:
    async def chunks(size: int) -> AsyncIterator[bytes]:
        body = padded(size)
        for start in range(0, size, 100_000):
            yield body[start : start + 100_000]

    heads = {"Content-Type": "application/json"}

    taken = await api.client.post("/api/tasks", content=chunks(MIB), headers=heads)
    refused = await api.client.post("/api/tasks", content=chunks(MIB + 1), headers=heads)

    assert taken.status_code == 201
    assert code_of(refused) == (413, "too_large")


async def ask(url: str, head: str, body: AsyncIterator[bytes]) -> bytes:
    """The answer over a bare connection, on which the body goes on until the answer has come."""
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)

    async def send() -> None:
        writer.write(head.encode())
        async for chunk in body:
            writer.write(chunk)
            await writer.drain()

    sending = asyncio.create_task(send())
    try:
        async with asyncio.timeout(30):
            answer = await reader.readuntil(b"\r\n\r\n")
            length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            return answer + await reader.readexactly(length)
    finally:
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        writer.transport.abort()


HEAD = "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


async def test_a_chunked_body_without_end_is_answered_at_the_limit(api: Api, url: str) -> None:
    before = await api.rows()

    async def without_end() -> AsyncIterator[bytes]:
        while True:
            yield b"10000\r\n" + b" " * 0x10000 + b"\r\n"

    answer = await ask(url, HEAD + "Transfer-Encoding: chunked\r\n\r\n", without_end())

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'"code": "too_large"' in answer
    assert await api.rows() == before


async def test_a_body_that_is_announced_too_large_is_answered_before_it_comes(url: str) -> None:
    async def nothing_yet() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    answer = await ask(url, HEAD + f"Content-Length: {1024 * MIB}\r\nExpect: 100-continue\r\n\r\n", nothing_yet())

    assert answer.startswith(b"HTTP/1.1 413 ")


async def test_a_body_that_breaks_off_stores_nothing(api: Api, url: str) -> None:
    before = await api.rows()
    where = urlsplit(url)
    _, writer = await asyncio.open_connection(where.hostname, where.port)
    writer.write((HEAD + 'Content-Length: 100\r\n\r\n{"taskType": "noop"}').encode())
    await writer.drain()

    writer.transport.abort()

    assert (await api.get("/api/health/live")).status_code == 200
    assert await api.rows() == before


@pytest.mark.parametrize(("method", "path"), [("PUT", "/api/documents/plan"), ("POST", "/api/tasks")])
async def test_a_sender_that_goes_away_in_the_middle_is_no_defect(api: Api, method: str, path: str) -> None:
    """It used to be raised up to the server, which logged it with its stack, once for every upload broken off."""
    messages: Iterator[Message] = iter(
        [{"type": "http.request", "body": b"PK\3\4", "more_body": True}, {"type": "http.disconnect"}]
    )

    async def receive() -> Message:
        return next(messages)

    async def send(_message: Message) -> None:
        """Nobody is there to hear it."""

    heads = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b""}

    await api.app({**scope, "http_version": "1.1", "scheme": "http", "headers": heads}, receive, send)

    assert (await api.get("/api/documents/plan")).status_code == 404
