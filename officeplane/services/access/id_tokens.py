"""ID tokens: whether a provider has signed them, with a key of its own and in a way that others cannot.

This module alone needs joserfc, which comes with the extra `oidc`.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, Final

from joserfc import jws, jwt
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key
from pydantic import BaseModel

from officeplane.domain.oidc import WrongTokenError

ASYMMETRIC: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519"}
)
"""Algorithms with which nobody signs who can only check: `none` and those of a shared secret are not among them."""

Keys = Mapping[str | None, Key]


class KeySet(BaseModel):
    """The keys of a provider as it publishes them (RFC 7517)."""

    keys: list[dict[str, Any]]


def keys_in(key_set: KeySet) -> Keys:
    """Return the keys for signatures, by their ids; those of no known kind, and shared secrets, are left out."""
    keys: dict[str | None, Key] = {}
    for one in key_set.keys:
        if one.get("kty") == "oct" or one.get("use", "sig") != "sig":
            continue
        with suppress(JoseError, ValueError, TypeError):
            keys[one.get("kid")] = JWKRegistry.import_key(one)
    return keys


def key_id_of(token: str) -> str | None:
    """Return which key a token says that it was signed with; None if it does not say."""
    try:
        header: dict[str, Any] = jws.extract_compact(token.encode()).headers()
    except (JoseError, ValueError) as error:
        raise WrongTokenError("it is no signed token") from error
    kid = header.get("kid")
    return kid if isinstance(kid, str) else None


def claims_of(token: str, keys: Keys, algorithms: Collection[str]) -> dict[str, Any]:
    """Return what a token says that one of these keys has signed, in one of these ways."""
    # Without any the library would allow what it recommends, shared secrets among it.
    allowed = ASYMMETRIC.intersection(algorithms)
    if not allowed:
        raise WrongTokenError("the provider signs in no way that is accepted here")
    kid = key_id_of(token)
    key = keys.get(kid) if kid is not None or len(keys) != 1 else next(iter(keys.values()))
    if key is None:
        raise WrongTokenError("the provider has no key of this id")
    try:
        registry = jws.JWSRegistry(algorithms=allowed, strict_check_header=False)
        return dict(jwt.decode(token, key, registry=registry).claims)
    except (JoseError, ValueError, TypeError) as error:
        raise WrongTokenError(f"its signature is not good ({type(error).__name__})") from error
