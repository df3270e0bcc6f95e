"""The HTTP API as the command line uses it: a question has an answer, or a reason that can be shown."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx

from officeplane.cli.credential import advice, credential_for
from officeplane.cli.exits import RefusedError, TryLaterError, UnreachableError, UsageError
from officeplane.cli.problems import problem_json, problem_lines, problem_of

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
TURN_SECONDS = 30.0
TRY_LATER = frozenset({429, 502, 503, 504})
LOOPBACK = ("127.0.0.1", "localhost", "::1")

Query = Mapping[str, str | int | Sequence[str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API said to a question that it accepted."""

    content: bytes
    status: int
    replayed: bool
    next_page: httpx.QueryParams | None
    revision: int | None
    """Which revision of a document it shows, if it says so."""

    @property
    def text(self) -> str:
        """The JSON as it came."""
        return self.content.decode()


class Client:
    """A connection to an installation's API, used as an async context manager."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            parsed = httpx.URL(self.url)
        except httpx.InvalidURL as error:
            raise UsageError(f"{url!r} is not a URL: {error}") from None
        if parsed.scheme not in {"http", "https"} or not parsed.host:
            raise UsageError(f"{url!r} is not a URL of an API; one looks like http://127.0.0.1:8001")
        self._credential = credential_for(parsed)
        self._client = httpx.AsyncClient(
            base_url=parsed,
            headers={} if self._credential is None else {"Authorization": f"Bearer {self._credential.key}"},
            # Wherever else it leads, the key is not for those.
            follow_redirects=False,
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            # A proxy for the outside world cannot know this machine's own ports.
            trust_env=parsed.host not in LOOPBACK,
        )

    async def __aenter__(self) -> Self:
        """Open the connection pool."""
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        await self._client.__aexit__(kind, error, trace)

    async def get(self, path: str, query: Query | httpx.QueryParams | None = None, wait: float = 0) -> Answer:
        """Return the answer to a GET; `wait` is how long the API itself was asked to wait."""
        return await self._ask(self._client.build_request("GET", path, params=query, timeout=_timeout(wait)))

    async def post(
        self, path: str, body: bytes = b"{}", headers: Mapping[str, str] | None = None, query: Query | None = None
    ) -> Answer:
        """Return the answer to a POST of JSON."""
        heads = {"Content-Type": "application/json", **(headers or {})}
        return await self._ask(self._client.build_request("POST", path, content=body, headers=heads, params=query))

    async def patch(self, path: str, body: bytes) -> Answer:
        """Return the answer to a PATCH of JSON."""
        headers = {"Content-Type": "application/json"}
        return await self._ask(self._client.build_request("PATCH", path, content=body, headers=headers))

    async def delete(self, path: str) -> Answer:
        """Return the answer to a DELETE."""
        return await self._ask(self._client.build_request("DELETE", path))

    async def put(self, path: str, body: bytes, headers: Mapping[str, str], query: Query) -> Answer:
        """Return the answer to a file; the API may wait for its document's turn."""
        timeout = _timeout(TURN_SECONDS)
        return await self._ask(
            self._client.build_request("PUT", path, content=body, headers=headers, params=query, timeout=timeout)
        )

    @asynccontextmanager
    async def stream(
        self, path: str, query: Query, headers: Mapping[str, str], silence_seconds: float
    ) -> AsyncGenerator[httpx.Response]:
        """Give an open answer, given up when nothing came for `silence_seconds`."""
        timeout = httpx.Timeout(silence_seconds, connect=CONNECT_SECONDS)
        try:
            async with self._client.stream("GET", path, params=query, headers=headers, timeout=timeout) as response:
                if response.is_error:
                    await response.aread()
                    raise self._refused(response)
                yield response
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None

    async def _ask(self, request: httpx.Request) -> Answer:
        try:
            response = await self._client.send(request)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        if not response.is_success:
            raise self._refused(response)
        following = response.links.get("next", {}).get("url")
        return Answer(
            content=response.content,
            status=response.status_code,
            replayed=response.headers.get("Idempotency-Replayed") == "true",
            next_page=None if following is None else httpx.URL(following).params,
            revision=_revision(response.headers.get("ETag", "")),
        )

    def _refused(self, response: httpx.Response) -> RefusedError:
        kind = TryLaterError if response.status_code in TRY_LATER else RefusedError
        lines = problem_lines(response.status_code, response.reason_phrase, response.content)
        problem = problem_of(response.content)
        if problem is not None and (hint := advice(problem.code, problem.scope, self._credential)):
            lines.append(hint)
        refusal = kind(*lines)
        refusal.status = response.status_code
        refusal.problem = problem_json(response.content)
        return refusal

    def _unreachable(self, error: httpx.HTTPError) -> UnreachableError:
        said = str(error) or type(error).__name__
        return UnreachableError(
            f"No answer from {self.url}: {said}",
            "Start an installation with `officeplane up`, or say where one is with --url or OFFICEPLANE_URL.",
        )


def task_path(task_id: str, action: str = "") -> str:
    """Return the path of a task, or of something that can be done to it."""
    return f"/api/tasks/{quote(task_id, safe='')}{action}"


def document_path(document_id: str, more: str = "") -> str:
    """Return the path of a document, or of something about it."""
    return f"/api/documents/{quote(document_id, safe='')}{more}"


def dag_path(dag_id: str, action: str = "") -> str:
    """Return the path of a DAG, or of something that can be done to it."""
    return f"/api/dags/{quote(dag_id, safe='')}{action}"


def letter_path(task_id: str, action: str = "") -> str:
    """Return the path of a task's dead letter, or of something that can be done to it."""
    return f"/api/dead-letters/{quote(task_id, safe='')}{action}"


def _timeout(wait: float) -> httpx.Timeout:
    return httpx.Timeout(ANSWER_SECONDS + wait, connect=CONNECT_SECONDS)


def _revision(etag: str) -> int | None:
    # That of a representation has its name behind the number.
    number = etag.removeprefix("W/").strip('"').partition("-")[0]
    return int(number) if number.isdecimal() else None
