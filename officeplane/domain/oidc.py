"""OpenID Connect, as far as it is only thinking: whom a provider's word lets in, and what one login is made of."""

import base64
import hmac
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from officeplane.domain.principal import Scope

ATTEMPT_SECONDS: Final = 600.0
"""How long somebody may take at the provider."""
LEEWAY_SECONDS: Final = 60.0
"""How far the clocks of two machines may be apart."""
SUBJECT_MAX: Final = 255
_GROUPS: Final = TypeAdapter(list[str], config=ConfigDict(strict=True))
NAME: Final = r"(?:group|subject):[^\s](?:.*[^\s])?"
"""What stands for a group or a subject in settings."""

_GRANT: Final = re.compile(rf"({NAME})=([a-z]+(?:\+[a-z]+)*)")


class ProviderError(Exception):
    """A provider does not answer, or not as one does."""


class NotAdmittedError(Exception):
    """Somebody is not let in; the text is for him."""


class WrongTokenError(Exception):
    """A provider's word about somebody is not good here."""


@dataclass(frozen=True, slots=True)
class Admission:
    """Who may log in, and what each may do."""

    allowed: frozenset[str]
    grants: Mapping[str, frozenset[Scope]]

    def scopes_of(self, subject: str, groups: Iterable[str]) -> frozenset[Scope] | None:
        """Return what somebody may do, `read` at least; None if he is not let in. Names are compared exactly."""
        names = {f"subject:{subject}", *(f"group:{group}" for group in groups)}
        if names.isdisjoint(self.allowed):
            return None
        return frozenset({Scope.READ}).union(*(self.grants.get(name, frozenset()) for name in names))


def admission_of(allow: Collection[str], grants: Collection[str]) -> Admission:
    """Return what two settings say; raise ValueError, with a sentence about it, for what makes no sense."""
    for name in allow:
        if re.fullmatch(NAME, name) is None:
            message = f"{name!r} is neither group:NAME nor subject:NAME"
            raise ValueError(message)
    table: dict[str, frozenset[Scope]] = {}
    for grant in grants:
        found = _GRANT.fullmatch(grant)
        if found is None:
            message = f"{grant!r} is not like group:NAME=read+edit"
            raise ValueError(message)
        name, scopes = found.groups()
        unknown = sorted(set(scopes.split("+")) - set(Scope))
        if unknown:
            message = f"{grant!r} has {unknown[0]!r}, which is none of {', '.join(Scope)}"
            raise ValueError(message)
        table[name] = table.get(name, frozenset()) | frozenset(map(Scope, scopes.split("+")))
    return Admission(frozenset(allow), table)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One login that has begun: all that it takes to end it is made of a record that its browser alone has.

    `state` says that a browser comes back with the record that it left with, `nonce` that the provider's word was given
    for it, and `verifier` (PKCE) that nobody else can use the code. Whoever sees one of them knows nothing of the rest.
    """

    record: str
    begun_at: float
    next_path: str

    @property
    def state(self) -> str:
        """What the provider gives back."""
        return self._made_for("state")

    @property
    def nonce(self) -> str:
        """What the provider signs."""
        return self._made_for("nonce")

    @property
    def verifier(self) -> str:
        """What the provider is told when the code is used."""
        return self._made_for("verifier")

    def _made_for(self, purpose: str) -> str:
        return _text(hmac.digest(self.record.encode(), purpose.encode(), "sha256"))


def new_attempt(chance: str, next_path: str, now: float) -> Attempt:
    """Begin a login with what nobody can guess."""
    return Attempt(f"{int(now)}.{chance}.{_text(next_path.encode())}", now, next_path)


def attempt_of(record: str, now: float) -> Attempt | None:
    """Return the login that a browser's record is of; None if it is none, or too old."""
    parts = record.split(".")
    try:
        begun, _chance, path = parts
        begun_at = float(int(begun))
        next_path = base64.urlsafe_b64decode(path + "=" * (-len(path) % 4)).decode()
    except ValueError:
        return None
    # Another process may end it, on a machine whose clock is behind.
    return Attempt(record, begun_at, next_path) if -LEEWAY_SECONDS <= now - begun_at <= ATTEMPT_SECONDS else None


def challenge_of(verifier_digest: bytes) -> str:
    """Return what a provider is told of a verifier beforehand."""
    return _text(verifier_digest)


class Claims(BaseModel):
    """What a provider says of somebody."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")

    iss: str
    sub: Annotated[str, Field(min_length=1, max_length=SUBJECT_MAX)]
    aud: str | list[str]
    exp: float
    iat: float
    nbf: float = 0
    nonce: str
    azp: str | None = None

    def groups(self, claim: str) -> list[str]:
        """Return the groups in one of the claims: a list, or one alone."""
        found: object = (self.model_extra or {}).get(claim)
        try:
            return [found] if isinstance(found, str) else _GROUPS.validate_python(found)
        except ValidationError:
            return []


def checked_claims(said: Mapping[str, Any], *, issuer: str, client_id: str, nonce: str, now: float) -> Claims:
    """Return what was signed, if it is of this provider, for us, of now and of this login."""
    try:
        claims = Claims.model_validate(said)
    except ValidationError as error:
        field = ".".join(map(str, error.errors()[0]["loc"]))
        raise WrongTokenError(f"it is not as it should be ({field})") from None
    audiences = {claims.aud} if isinstance(claims.aud, str) else set(claims.aud)
    if claims.iss != issuer:
        raise WrongTokenError("it is of another issuer (iss)")
    if client_id not in audiences or (claims.azp is None and len(audiences) > 1):
        raise WrongTokenError("it is meant for somebody else (aud)")
    if claims.azp not in {None, client_id}:
        raise WrongTokenError("it was given to somebody else (azp)")
    if not now < claims.exp + LEEWAY_SECONDS:
        raise WrongTokenError("it has expired (exp)")
    if not max(claims.iat, claims.nbf) - LEEWAY_SECONDS <= now:
        raise WrongTokenError("it is of the future (iat)")
    if not hmac.compare_digest(claims.nonce.encode(), nonce.encode()):
        raise WrongTokenError("it is of another login (nonce)")
    if not claims.sub.isprintable():
        raise WrongTokenError("whom it is about cannot be read (sub)")
    return claims


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
