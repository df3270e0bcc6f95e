"""A provider of OpenID Connect: what it says of itself, its keys, and the word it gives for a code."""

import asyncio
import time
from functools import cache
from ssl import SSLContext
from typing import Final, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from officeplane.domain.oidc import ProviderError
from officeplane.services.access.id_tokens import Keys, KeySet, keys_in

ANSWER_SECONDS: Final = 10.0
ANSWER_BYTES_MAX: Final = 1024 * 1024
KNOWN_SECONDS: Final = 3_600.0
"""How long what a provider says of itself, and its keys, are good without being asked for again."""
AGAIN_SECONDS: Final = 10.0
"""How often at most keys are asked for because one was not among them."""
PATIENCE_SECONDS: Final = 2.0
"""For how long one that does not answer is not asked again."""
Form = TypeVar("Form", bound=BaseModel)
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


class _Metadata(BaseModel):
    """What a provider says of itself (OpenID Connect Discovery 1.0)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    id_token_signing_alg_values_supported: list[str] = ["RS256"]
    token_endpoint_auth_methods_supported: list[str] = ["client_secret_basic"]


class _Answer(BaseModel):
    """What a provider gives for a code."""

    id_token: str


class _Refusal(BaseModel):
    """Why it gives nothing."""

    error: str


class _Facts(NamedTuple):
    metadata: _Metadata
    until: float


class Provider:
    """One provider, by its issuer."""

    def __init__(self, issuer: str, client_id: str, client_secret: str) -> None:
        self.issuer = issuer
        self.client_id = client_id
        self._client_secret = client_secret
        self._facts: _Facts | None = None
        self._keys: Keys = {}
        self._asking = asyncio.Lock()
        self._asked_again_at = float("-inf")
        self._failed_at = float("-inf")

    @property
    def host(self) -> str:
        """What people know it by."""
        return urlsplit(self.issuer).netloc

    async def authorization_endpoint(self) -> str:
        """Return where people log in there."""
        return (await self._known()).metadata.authorization_endpoint

    async def algorithms(self) -> list[str]:
        """Return in which ways it signs."""
        return (await self._known()).metadata.id_token_signing_alg_values_supported

    async def keys(self, kid: str | None) -> Keys:
        """Return its keys; they are asked for again, now and then, if this one is not among them."""
        metadata = (await self._known()).metadata
        if kid is not None and kid not in self._keys:
            async with self._asking:
                now = time.monotonic()
                if kid not in self._keys and now - self._asked_again_at >= AGAIN_SECONDS:
                    self._asked_again_at = now
                    self._keys = await self._keys_at(metadata.jwks_uri)
        return self._keys

    async def id_token_for(self, code: str, verifier: str, redirect_uri: str) -> str:
        """Return the word that is given for a code."""
        metadata = (await self._known()).metadata
        ways = metadata.token_endpoint_auth_methods_supported
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self.client_id,
            "code_verifier": verifier,
        }
        auth: httpx.BasicAuth | None = None
        if self._client_secret and "client_secret_basic" not in ways and "client_secret_post" in ways:
            form["client_secret"] = self._client_secret
        elif self._client_secret:
            # Encoded before they are joined (RFC 6749, 2.3.1).
            auth = httpx.BasicAuth(quote(self.client_id, safe=""), quote(self._client_secret, safe=""))
        return (await self._ask(httpx.Request("POST", metadata.token_endpoint, data=form), _Answer, auth)).id_token

    async def _known(self) -> _Facts:
        async with self._asking:
            now = time.monotonic()
            if self._facts is None or self._facts.until <= now:
                if now - self._failed_at < PATIENCE_SECONDS:
                    raise ProviderError("It did not answer a moment ago.")
                try:
                    metadata = await self._look()
                    self._keys = await self._keys_at(metadata.jwks_uri)
                except ProviderError:
                    self._failed_at = time.monotonic()
                    raise
                self._facts = _Facts(metadata, time.monotonic() + KNOWN_SECONDS)
            return self._facts

    async def _look(self) -> _Metadata:
        url = self.issuer.removesuffix("/") + "/.well-known/openid-configuration"
        said = await self._ask(httpx.Request("GET", url), _Metadata)
        if said.issuer != self.issuer:
            raise ProviderError(f"It calls itself {said.issuer[:200]!r}, which is not OFFICEPLANE_OIDC_ISSUER.")
        for place in (said.authorization_endpoint, said.token_endpoint, said.jwks_uri):
            parts = urlsplit(place)
            # What is secret on its way to the issuer is so on its way to these.
            if parts.scheme not in {"https", urlsplit(self.issuer).scheme} or not parts.hostname:
                raise ProviderError(f"It leads to {place[:200]!r}, which is not safe.")
        return said

    async def _keys_at(self, url: str) -> Keys:
        return keys_in(await self._ask(httpx.Request("GET", url), KeySet))

    async def _ask(self, request: httpx.Request, form: type[Form], auth: httpx.BasicAuth | None = None) -> Form:
        request.headers["Accept"] = "application/json"
        is_near = request.url.host in LOOPBACK
        try:
            async with (
                asyncio.timeout(ANSWER_SECONDS),
                # A proxy for the outside world cannot know this machine's own ports.
                httpx.AsyncClient(verify=_trusted(), timeout=ANSWER_SECONDS, trust_env=not is_near) as client,
            ):
                answer = await client.send(request, auth=auth, stream=True)
                try:
                    content = await _body_of(answer)
                finally:
                    await answer.aclose()
        except (httpx.HTTPError, TimeoutError) as error:
            raise ProviderError(f"{request.url.host} does not answer: {type(error).__name__}") from error
        if answer.status_code != 200:
            raise ProviderError(f"{request.url.host} answers with {answer.status_code} {_why(content)}".rstrip())
        try:
            return form.model_validate_json(content)
        except ValidationError as error:
            raise ProviderError(f"{request.url.host} does not answer as a provider: {_wrong_in(error)}") from None


@cache
def _trusted() -> SSLContext:
    # To read all authorities takes a tenth of a second, in which nobody else is answered.
    return httpx.create_ssl_context()


async def _body_of(answer: httpx.Response) -> bytes:
    content = b""
    async for part in answer.aiter_bytes():
        content += part
        if len(content) > ANSWER_BYTES_MAX:
            raise ProviderError("It answers with far too much.")
    return content


def _why(content: bytes) -> str:
    try:
        return _Refusal.model_validate_json(content).error[:100]
    except ValidationError:
        return ""


def _wrong_in(error: ValidationError) -> str:
    # Without what it said, which may be a token.
    (first, *_) = error.errors(include_input=False, include_url=False, include_context=False)
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
