"""Logging in with a provider of OpenID Connect: the authorization code flow with PKCE, and an allow-list."""

import hashlib
import hmac
import importlib.util
import secrets
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlencode

import structlog

from officeplane.config import Settings
from officeplane.domain.oidc import (
    Admission,
    Attempt,
    NotAdmittedError,
    WrongTokenError,
    admission_of,
    attempt_of,
    challenge_of,
    checked_claims,
    new_attempt,
)
from officeplane.domain.principal import Scope

if TYPE_CHECKING:
    from officeplane.services.access.providers import Provider

_OTHER_BROWSER: Final = "This login was begun in another browser, or more than ten minutes ago: begin again."
_log = structlog.stdlib.get_logger(__name__)


class OidcSettingError(Exception):
    """Logging in with a provider cannot be as the settings have it."""


class Begun(NamedTuple):
    """Where somebody logs in, and what his browser has to come back with."""

    url: str
    record: str


class Admitted(NamedTuple):
    """Who has logged in, what he may do, and where he wanted to go."""

    subject: str
    scopes: frozenset[Scope]
    next_path: str


class Oidc:
    """Logs people in with one provider."""

    def __init__(self, provider: "Provider", admission: Admission, scopes: str, groups_claim: str) -> None:
        self._provider = provider
        self._admission = admission
        self._scopes = scopes
        self._groups_claim = groups_claim

    @property
    def name(self) -> str:
        """What people know the provider by."""
        return self._provider.host

    async def begin(self, redirect_uri: str, next_path: str) -> Begun:
        """Begin a login, which ends at an address of ours."""
        attempt = new_attempt(secrets.token_urlsafe(32), next_path, time.time())
        where = await self._provider.authorization_endpoint()
        asked = {
            "response_type": "code",
            "client_id": self._provider.client_id,
            "redirect_uri": redirect_uri,
            "scope": self._scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": challenge_of(hashlib.sha256(attempt.verifier.encode()).digest()),
            "code_challenge_method": "S256",
        }
        return Begun(f"{where}{'&' if '?' in where else '?'}{urlencode(asked)}", attempt.record)

    async def end(self, redirect_uri: str, record: str, said: Mapping[str, str]) -> Admitted:
        """Return who comes back from the provider, if he is let in."""
        attempt = attempt_of(record, time.time())
        if attempt is None or not hmac.compare_digest(said.get("state", "").encode(), attempt.state.encode()):
            raise NotAdmittedError(_OTHER_BROWSER)
        if "error" in said:
            raise NotAdmittedError(f"The provider has not logged you in: {said['error'][:100]}")
        if said.get("iss", self._provider.issuer) != self._provider.issuer:
            raise NotAdmittedError("This is the answer of another provider (iss).")
        if not said.get("code"):
            raise NotAdmittedError("The provider has not said whether you are logged in (code).")
        token = await self._provider.id_token_for(said["code"], attempt.verifier, redirect_uri)
        try:
            return await self._admitted(token, attempt)
        except WrongTokenError as error:
            _log.warning("oidc.token_refused", why=str(error))
            raise NotAdmittedError(f"What the provider says of you is not believed: {error}.") from None

    async def _admitted(self, token: str, attempt: Attempt) -> Admitted:
        from officeplane.services.access.id_tokens import claims_of, key_id_of  # noqa: PLC0415 - the extra

        provider = self._provider
        keys, algorithms = await provider.keys(key_id_of(token)), await provider.algorithms()
        claims = checked_claims(
            claims_of(token, keys, algorithms),
            issuer=provider.issuer,
            client_id=provider.client_id,
            nonce=attempt.nonce,
            now=time.time(),
        )
        scopes = self._admission.scopes_of(claims.sub, claims.groups(self._groups_claim))
        if scopes is None:
            _log.info("oidc.not_admitted", subject=claims.sub)
            raise NotAdmittedError(
                f"The provider knows you, as {claims.sub}, but you are not let in here: neither you nor a group of "
                "yours is in OFFICEPLANE_OIDC_ALLOW."
            )
        return Admitted(claims.sub, scopes, attempt.next_path)


def oidc_of(settings: Settings) -> Oidc | None:
    """Return how people log in with the provider of these settings; None if they name none."""
    if not settings.oidc_issuer:
        return None
    if not settings.oidc_client_id:
        raise OidcSettingError("OFFICEPLANE_OIDC_CLIENT_ID: It must be what the provider calls this installation.")
    if not settings.oidc_allow:
        raise OidcSettingError(
            "OFFICEPLANE_OIDC_ALLOW: It must say who is let in, such as group:editors, subject:248289; "
            "else everybody would be whom the provider knows."
        )
    if importlib.util.find_spec("joserfc") is None:
        raise OidcSettingError(
            "OFFICEPLANE_OIDC_ISSUER: Logging in with a provider needs joserfc, which is not installed: "
            "pip install 'officeplane[oidc]'."
        )
    for name, allow, grants in (("ALLOW", settings.oidc_allow, ()), ("GRANTS", (), settings.oidc_grants)):
        try:
            admission_of(allow, grants)
        except ValueError as error:
            raise OidcSettingError(f"OFFICEPLANE_OIDC_{name}: {error}.") from None
    from officeplane.services.access.providers import Provider  # noqa: PLC0415 - it needs the extra

    asked = settings.oidc_scopes.split()
    return Oidc(
        Provider(settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret),
        admission_of(settings.oidc_allow, settings.oidc_grants),
        " ".join(dict.fromkeys(("openid", *asked))),
        settings.oidc_groups_claim,
    )
