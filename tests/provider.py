"""A provider of OpenID Connect on this machine, which signs what a test wants it to say."""

import asyncio
import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import uvicorn
from joserfc import jws, jwt
from joserfc.jwk import ECKey, Key, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

CLIENT = "office"
SECRET = "s3cret/with+signs"
RSA = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
ROTATED = ECKey.generate_key("P-256", {"kid": "two", "use": "sig"})


@dataclass(slots=True)
class Provider:
    """What it says, which tests change, and what it was asked."""

    issuer: str = ""
    client_secret: str = SECRET
    keys: list[Key] = field(default_factory=lambda: [RSA])
    shared_secret: bytes | None = None
    """With which it signs in the place of a key, for HS256; with `none` it does not sign."""
    signing: Key = field(default_factory=lambda: RSA)
    algorithm: str = "RS256"
    algorithms: list[str] = field(default_factory=lambda: ["RS256", "ES256", "HS256", "none"])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    """In the place of what it would say; None leaves one out."""
    key_id: str | None = "one"
    asked: list[str] = field(default_factory=list[str])
    codes: dict[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    def log_in(self, url: str, **instead: str) -> dict[str, str]:
        """Let somebody log in at the address to which he was led; what he is sent back with."""
        place, query = url.split("?", 1)
        asked = dict(parse_qsl(query)) | instead
        assert place == f"{self.issuer}/authorize"
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return {"code": code, "state": asked["state"]}

    def sent_back(self, url: str) -> str:
        """The address to which a browser is sent back after that, without its host."""
        asked = parse_qs(urlsplit(url).query)
        return f"{urlsplit(asked['redirect_uri'][0]).path}?{urlencode(self.log_in(url))}"

    def id_token(self, nonce: str) -> str:
        """What it says of somebody, signed as it is told to."""
        now = int(time.time())
        said = {"iss": self.issuer, "sub": "248289", "aud": CLIENT, "exp": now + 300, "iat": now, "nonce": nonce}
        claims = {name: value for name, value in {**said, **self.claims}.items() if value is not None}
        header = {"alg": self.algorithm} | ({"kid": self.key_id} if self.key_id else {})
        if self.shared_secret is None:
            registry = jws.JWSRegistry(algorithms=[self.algorithm])
            return jwt.encode(header, claims, self.signing, registry=registry)
        # By hand, for the library signs nothing so badly.
        signed = ".".join(_text(json.dumps(part).encode()) for part in (header, claims))
        signature = hmac.digest(self.shared_secret, signed.encode(), "sha256") if self.algorithm != "none" else b""
        return f"{signed}.{_text(signature)}"

    async def _tell_of_itself(self, _request: Request) -> Response:
        self.asked.append("metadata")
        said = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/jwks",
            "id_token_signing_alg_values_supported": self.algorithms,
        }
        return JSONResponse({**said, **self.metadata})

    async def _tell_keys(self, _request: Request) -> Response:
        self.asked.append("keys")
        return JSONResponse({"keys": [key.as_dict(private=False) for key in self.keys]})

    async def _give_token(self, request: Request) -> Response:
        self.asked.append("token")
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        begun = self.codes.pop(form.get("code", ""), None)
        if begun is None or not self._is_client(request, form):
            return JSONResponse({"error": "invalid_grant"}, 400)
        challenge = _text(hashlib.sha256(form["code_verifier"].encode()).digest())
        if challenge != begun["code_challenge"] or form["redirect_uri"] != begun["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse({"id_token": self.id_token(begun["nonce"]), "access_token": "x", "token_type": "Bearer"})

    def _is_client(self, request: Request, form: Mapping[str, str]) -> bool:
        if not self.client_secret:
            return form["client_id"] == CLIENT and "authorization" not in request.headers
        if "client_secret_post" in self.metadata.get("token_endpoint_auth_methods_supported", ()):
            return form["client_secret"] == self.client_secret
        name_and_secret = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        return name_and_secret == f"{CLIENT}:s3cret%2Fwith%2Bsigns"

    def routes(self) -> list[Route]:
        return [
            Route("/.well-known/openid-configuration", self._tell_of_itself),
            Route("/jwks", self._tell_keys),
            Route("/token", self._give_token, methods=["POST"]),
        ]


class _Server(uvicorn.Server):
    """A server that leaves signals to the test run."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def a_provider() -> AsyncGenerator[Provider]:
    """A provider that answers on a port of this machine."""
    provider = Provider()
    app = Starlette(routes=provider.routes())
    server = _Server(uvicorn.Config(app, port=0, lifespan="off", log_level="error", access_log=False))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    ((host, port),) = [listener.getsockname()[:2] for one in server.servers for listener in one.sockets]
    provider.issuer = f"http://{host}:{port}"
    try:
        yield provider
    finally:
        server.should_exit = True
        await serving


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
