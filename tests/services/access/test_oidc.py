"""Logging in with a provider: whose word is believed, and whose is not."""

import importlib.util
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from joserfc.jwk import OctKey, RSAKey
from structlog.testing import capture_logs

from officeplane.config import Settings
from officeplane.domain import oidc as domain_oidc
from officeplane.domain.oidc import NotAdmittedError, ProviderError
from officeplane.domain.principal import Scope
from officeplane.services.access import providers
from officeplane.services.access.oidc import Admitted, Oidc, OidcSettingError, oidc_of
from tests.provider import CLIENT, ROTATED, RSA, SECRET, Provider, a_provider

BACK = "https://office.example/login/oidc/callback"
ADMITTED = Admitted("248289", frozenset({Scope.READ}), "/docs")
# Cases are made when tests are collected, and tried long after that.
DAY = 86_400


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with a_provider() as started:
        yield started


def settings_for(provider: Provider, **others: object) -> Settings:
    given: dict[str, object] = {
        "oidc_issuer": provider.issuer,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": provider.client_secret,
        "oidc_allow": "subject:248289",
    }
    return Settings.model_validate({**given, **others})


def ours(provider: Provider, **others: object) -> Oidc:
    found = oidc_of(settings_for(provider, **others))
    assert found is not None
    return found


async def log_in(at: Oidc, provider: Provider, **instead: str) -> Admitted:
    begun = await at.begin(BACK, "/docs")
    return await at.end(BACK, begun.record, provider.log_in(begun.url, **instead))


async def refusal_of(at: Oidc, provider: Provider, **instead: str) -> str:
    with pytest.raises(NotAdmittedError) as refused:
        await log_in(at, provider, **instead)
    return str(refused.value)


@pytest.mark.parametrize(
    ("secret", "metadata"),
    [
        (SECRET, {}),
        (SECRET, {"token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt"]}),
        ("", {"token_endpoint_auth_methods_supported": ["none"]}),
    ],
)
async def test_whoever_logs_in_at_the_provider_and_is_on_the_list_is_let_in(
    provider: Provider, secret: str, metadata: Mapping[str, Any]
) -> None:
    provider.client_secret, provider.metadata = secret, dict(metadata)

    assert await log_in(ours(provider), provider) == ADMITTED


async def test_what_somebody_may_do_is_what_his_groups_are_granted(provider: Provider) -> None:
    provider.claims = {"roles": ["writers", "others"]}
    at = ours(
        provider,
        oidc_allow="group:writers, subject:nobody",
        oidc_groups_claim="roles",
        oidc_grants="group:writers=edit, group:bosses=admin",
    )

    assert (await log_in(at, provider)).scopes == {Scope.READ, Scope.EDIT}


async def test_one_group_alone_need_not_be_a_list(provider: Provider) -> None:
    provider.claims = {"groups": "writers"}

    assert await log_in(ours(provider, oidc_allow="group:writers"), provider) == ADMITTED


@pytest.mark.parametrize(
    "groups", [None, [], ["writer"], ["writers2"], ["Writers"], "write", {"writers": True}, [["writers"]], 1, [1]]
)
async def test_whoever_is_on_no_list_is_not_let_in_and_is_told_who_he_is(provider: Provider, groups: object) -> None:
    provider.claims = {"groups": groups}
    at = ours(provider, oidc_allow="group:writers,subject:24828,subject:2482890", oidc_grants="subject:248289=admin")

    with capture_logs() as logs:
        told = await refusal_of(at, provider)

    assert "as 248289" in told
    assert "OFFICEPLANE_OIDC_ALLOW" in told
    assert ("oidc.not_admitted", "248289") in [(log["event"], log.get("subject")) for log in logs]


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"aud": "another"}, "aud"),
        ({"aud": ["another"]}, "aud"),
        ({"aud": []}, "aud"),
        ({"aud": None}, "aud"),
        ({"aud": f"{CLIENT}2"}, "aud"),
        ({"aud": [CLIENT, "another"]}, "aud"),
        ({"aud": [CLIENT, "another"], "azp": "another"}, "azp"),
        ({"azp": "another"}, "azp"),
        ({"iss": "https://evil.example"}, "iss"),
        ({"iss": None}, "iss"),
        ({"exp": time.time() - DAY}, "exp"),
        ({"exp": None}, "exp"),
        ({"exp": "2100"}, "exp"),
        ({"exp": True}, "exp"),
        ({"iat": time.time() + DAY}, "iat"),
        ({"nbf": time.time() + DAY}, "iat"),
        ({"iat": None}, "iat"),
        ({"nonce": "another"}, "nonce"),
        ({"nonce": None}, "nonce"),
        ({"sub": None}, "sub"),
        ({"sub": ""}, "sub"),
        ({"sub": "x" * 256}, "sub"),
        ({"sub": 248289}, "sub"),
        ({"sub": "248289\n"}, "sub"),
    ],
)
async def test_what_is_not_said_for_this_login_is_not_believed(
    provider: Provider, claims: Mapping[str, object], why: str
) -> None:
    provider.claims = dict(claims)

    with capture_logs() as logs:
        assert f"({why}" in await refusal_of(ours(provider), provider)

    assert "oidc.token_refused" in [log["event"] for log in logs]


async def test_the_issuer_is_compared_exactly(provider: Provider) -> None:
    provider.claims = {"iss": f"{provider.issuer}/"}

    assert "iss" in await refusal_of(ours(provider), provider)


async def test_who_is_meant_among_others_is_meant(provider: Provider) -> None:
    provider.claims = {"aud": [CLIENT, "another"], "azp": CLIENT}

    assert await log_in(ours(provider), provider) == ADMITTED


async def test_what_nobody_has_signed_is_not_believed(provider: Provider) -> None:
    provider.algorithm, provider.shared_secret = "none", b""

    assert "signature" in await refusal_of(ours(provider), provider)


async def test_a_public_key_is_no_shared_secret(provider: Provider) -> None:
    provider.algorithm, provider.shared_secret = "HS256", RSA.as_pem(private=False)

    assert "signature" in await refusal_of(ours(provider), provider)


@pytest.mark.parametrize("key_id", ["one", "shared"])
async def test_a_shared_secret_is_no_key_though_the_provider_publishes_it(provider: Provider, key_id: str) -> None:
    provider.algorithm, provider.shared_secret, provider.key_id = "HS256", b"x" * 32, key_id
    provider.keys = [RSA, OctKey.import_key(b"x" * 32, {"kid": "shared"})]

    assert "not believed" in await refusal_of(ours(provider), provider)


async def test_what_another_has_signed_under_the_name_of_its_key_is_not_believed(provider: Provider) -> None:
    provider.signing = RSAKey.generate_key(2048, {"kid": "one"})

    assert "signature" in await refusal_of(ours(provider), provider)


@pytest.mark.parametrize("algorithms", [["RS512"], ["HS256", "none"], []])
async def test_only_ways_to_sign_that_the_provider_names_are_accepted(
    provider: Provider, algorithms: list[str]
) -> None:
    provider.algorithms = algorithms

    assert "not believed" in await refusal_of(ours(provider), provider)


@pytest.mark.parametrize("token", ["", "a.b.c", "x", "e30.e30.", "é.é.é"])
async def test_rubbish_is_no_word_of_anybody(provider: Provider, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    def said(_provider: Provider, _nonce: str) -> str:
        return token

    monkeypatch.setattr(Provider, "id_token", said)

    assert "not believed" in await refusal_of(ours(provider), provider)


async def test_a_key_that_is_new_is_asked_for_and_no_oftener_than_now_and_then(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ours(provider)
    assert await log_in(at, provider) == ADMITTED
    provider.keys, provider.signing, provider.algorithm, provider.key_id = [ROTATED], ROTATED, "ES256", "two"

    assert await log_in(at, provider) == ADMITTED
    assert await log_in(at, provider) == ADMITTED
    assert provider.asked.count("keys") == 2
    provider.key_id = "three"
    for _ in range(3):
        assert "no key of this id" in await refusal_of(at, provider)
    assert provider.asked.count("keys") == 2

    monkeypatch.setattr(providers, "AGAIN_SECONDS", 0.0)
    assert "no key of this id" in await refusal_of(at, provider)
    assert provider.asked.count("keys") == 3
    assert provider.asked.count("metadata") == 1


async def test_a_key_that_was_taken_back_works_no_more_after_an_hour(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "KNOWN_SECONDS", 0.0)
    at = ours(provider)
    assert await log_in(at, provider) == ADMITTED
    provider.keys = [ROTATED]

    assert "no key of this id" in await refusal_of(at, provider)


async def test_a_key_needs_no_name_where_there_is_one(provider: Provider) -> None:
    provider.key_id = None
    assert await log_in(ours(provider), provider) == ADMITTED

    provider.keys = [*provider.keys, ROTATED]
    assert "no key" in await refusal_of(ours(provider), provider)


async def test_the_code_is_good_for_the_browser_alone_that_began(provider: Provider) -> None:
    at = ours(provider)
    mine, others = await at.begin(BACK, "/"), await at.begin(BACK, "/")
    stolen = provider.log_in(others.url)

    # What the provider would be told of a code that was slipped to this browser is not what it was begun with.
    with pytest.raises(ProviderError, match="invalid_grant"):
        await at.end(BACK, mine.record, {"code": stolen["code"], "state": provider.log_in(mine.url)["state"]})


async def test_the_proof_that_is_asked_for_is_that_of_the_record(provider: Provider) -> None:
    with pytest.raises(ProviderError, match="invalid_grant"):
        await log_in(ours(provider), provider, code_challenge="x" * 43)


async def test_a_code_that_was_given_for_another_address_is_good_for_nothing(provider: Provider) -> None:
    with pytest.raises(ProviderError, match="invalid_grant"):
        await log_in(ours(provider), provider, redirect_uri="https://evil.example/")


async def test_who_comes_back_with_another_record_is_not_let_in_and_the_provider_not_asked(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ours(provider)
    mine, others = await at.begin(BACK, "/"), await at.begin(BACK, "/")
    said = provider.log_in(mine.url)

    for record, given in (
        (others.record, said),
        ("", said),
        (mine.record, {**said, "state": ""}),
        (mine.record, {"code": said["code"]}),
    ):
        with pytest.raises(NotAdmittedError, match="begin again"):
            await at.end(BACK, record, given)
    with monkeypatch.context() as patched:
        patched.setattr(domain_oidc, "ATTEMPT_SECONDS", -1.0)
        with pytest.raises(NotAdmittedError, match="begin again"):
            await at.end(BACK, mine.record, said)
    assert "token" not in provider.asked
    assert (await at.end(BACK, mine.record, said)).subject == "248289"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"error": "access_denied"}, "access_denied"),
        ({"code": "x", "iss": "https://evil.example"}, "another provider"),
        ({}, "code"),
    ],
)
async def test_what_else_the_provider_says_lets_nobody_in(
    provider: Provider, said: Mapping[str, str], told: str
) -> None:
    at = ours(provider)
    begun = await at.begin(BACK, "/")
    state = provider.log_in(begun.url)["state"]

    with pytest.raises(NotAdmittedError, match=told):
        await at.end(BACK, begun.record, {"state": state, **said})


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "ftp://evil.example/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"jwks_uri": None},
    ],
)
async def test_a_provider_that_is_not_what_it_should_be_is_not_used(
    provider: Provider, metadata: Mapping[str, object]
) -> None:
    provider.metadata = dict(metadata)

    with pytest.raises(ProviderError):
        await ours(provider).begin(BACK, "/")


async def test_a_provider_that_does_not_answer_is_left_alone_for_a_moment_and_used_when_it_does(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ours(provider)
    monkeypatch.setattr(providers, "PATIENCE_SECONDS", 60.0)
    provider.metadata = {"issuer": ""}
    for _ in range(3):
        with pytest.raises(ProviderError):
            await at.begin(BACK, "/")
    assert provider.asked == ["metadata"]

    provider.metadata = {}
    monkeypatch.setattr(providers, "PATIENCE_SECONDS", 0.0)
    assert await log_in(at, provider) == ADMITTED


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"oidc_allow": ""}, "OFFICEPLANE_OIDC_ALLOW: "),
        ({"oidc_allow": "editors"}, "OFFICEPLANE_OIDC_ALLOW: 'editors'"),
        ({"oidc_client_id": ""}, "OFFICEPLANE_OIDC_CLIENT_ID: "),
        ({"oidc_grants": "group:editors=all"}, "OFFICEPLANE_OIDC_GRANTS: "),
    ],
)
def test_without_a_list_of_who_is_let_in_there_is_no_logging_in(others: Mapping[str, object], said: str) -> None:
    with pytest.raises(OidcSettingError) as refused:
        ours(Provider("https://login.example"), **others)

    assert str(refused.value).startswith(said)


def test_without_the_extra_it_is_said_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str) -> None:
        assert name == "joserfc"

    monkeypatch.setattr(importlib.util, "find_spec", found)

    with pytest.raises(OidcSettingError, match=r"pip install 'officeplane\[oidc\]'"):
        ours(Provider("https://login.example"))


def test_who_names_no_provider_has_none() -> None:
    assert oidc_of(Settings(oidc_allow=("group:editors",))) is None
