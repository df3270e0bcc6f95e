"""`/login/oidc`, as a browser goes through it."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs

from officeplane.api.wrong_keys import FAILURES_MAX
from officeplane.config import Settings
from tests.api.client import code_of, running, stranger_to
from tests.provider import CLIENT, SECRET, Provider, a_provider

SESSION, RECORD = "officeplane_session", "officeplane_login"


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with a_provider() as started:
        yield started


@pytest.fixture
def settings(api_settings: Settings, provider: Provider) -> Settings:
    return api_settings.model_copy(
        update={
            "allowed_hosts": ("office.example",),
            "oidc_issuer": provider.issuer,
            "oidc_client_id": CLIENT,
            "oidc_client_secret": SECRET,
            "oidc_allow": ("group:editors",),
            "oidc_grants": ("group:editors=edit",),
        }
    )


@pytest.fixture
async def server(settings: Settings) -> AsyncIterator[FastAPI]:
    async with running(settings) as app:
        yield app


@pytest.fixture
async def browser(server: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A browser on another machine."""
    async with stranger_to(server) as opened:
        yield opened


async def led_away(browser: httpx.AsyncClient, path: str = "/login/oidc") -> str:
    answer = await browser.get(path)
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


async def test_whoever_is_let_in_has_a_session_and_is_led_to_where_he_wanted(
    browser: httpx.AsyncClient, provider: Provider
) -> None:
    provider.claims = {"groups": ["editors"]}
    page = await browser.get("/login", params={"next": "/docs?a=b&c"})
    link = f"Log in with {urlsplit(provider.issuer).netloc}</a>"
    assert f'<a href="/login/oidc?next=/docs%3Fa%3Db%26c">{link}' in page.text

    away = await led_away(browser, "/login/oidc?next=/docs%3Fa%3Db%26c")
    back = await browser.get(provider.sent_back(away))

    assert (back.status_code, back.headers["Location"]) == (303, "/docs?a=b&c")
    assert RECORD not in browser.cookies
    session = (await browser.get("/api/session")).json()
    assert (session["id"], session["kind"], session["scopes"], session["login"]) == (
        "person:oidc:248289", "person", ["edit", "read"], "oidc",
    )  # fmt: skip


async def test_the_provider_is_asked_for_what_is_of_this_browser_and_sends_back_to_us(
    browser: httpx.AsyncClient,
) -> None:
    first, second = parse_qs(urlsplit(await led_away(browser)).query), parse_qs(urlsplit(await led_away(browser)).query)

    assert first["redirect_uri"] == ["http://localhost/login/oidc/callback"]
    assert first["code_challenge_method"] == ["S256"]
    assert first["scope"] == ["openid"]
    for name in ("state", "nonce", "code_challenge"):
        assert first[name] != second[name]


async def test_what_a_browser_comes_back_with_is_for_no_script_and_for_ten_minutes(
    server: FastAPI, browser: httpx.AsyncClient
) -> None:
    given = (await browser.get("/login/oidc")).headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=lax", "Path=/login/oidc", "Max-Age=600"} == set(given[1:])

    beyond = await browser.get("/login/oidc", headers={"Host": "office.example"})
    assert "Secure" in beyond.headers["Set-Cookie"].split("; ")
    asked = parse_qs(urlsplit(beyond.headers["Location"]).query)
    assert asked["redirect_uri"] == ["https://office.example/login/oidc/callback"]


@pytest.mark.parametrize("groups", [[], ["editor"], ["editors-in-chief"], "editor"])
async def test_whoever_is_not_on_the_list_is_told_so_and_has_no_session(
    server: FastAPI, browser: httpx.AsyncClient, provider: Provider, groups: object
) -> None:
    provider.claims = {"groups": groups}

    back = await browser.get(provider.sent_back(await led_away(browser)))

    assert back.status_code == 403
    assert back.headers["Content-Type"].startswith("text/html")
    assert "OFFICEPLANE_OIDC_ALLOW" in back.text
    assert SESSION not in browser.cookies
    assert code_of(await browser.get("/api/session")) == (401, "unauthenticated")


async def test_an_answer_of_the_provider_is_for_the_browser_alone_that_began(
    server: FastAPI, browser: httpx.AsyncClient, provider: Provider
) -> None:
    provider.claims = {"groups": ["editors"]}
    back = provider.sent_back(await led_away(browser))

    async with stranger_to(server) as other:
        assert (await other.get(back)).status_code == 403
        await led_away(other)
        assert (await other.get(back)).status_code == 403
        assert SESSION not in other.cookies
    assert "token" not in provider.asked
    assert (await browser.get(back)).status_code == 303


async def test_an_answer_is_good_once(browser: httpx.AsyncClient, provider: Provider) -> None:
    provider.claims = {"groups": ["editors"]}
    back = provider.sent_back(await led_away(browser))
    record = browser.cookies[RECORD]
    assert (await browser.get(back)).status_code == 303

    browser.cookies.clear()
    assert (await browser.get(back)).status_code == 403
    assert (await browser.get(back, headers={"Cookie": f"{RECORD}={record}"})).status_code == 502
    assert SESSION not in browser.cookies


async def test_what_the_provider_says_is_put_into_the_page_as_text(browser: httpx.AsyncClient) -> None:
    state = parse_qs(urlsplit(await led_away(browser)).query)["state"][0]

    back = await browser.get("/login/oidc/callback", params={"state": state, "error": "<b>no</b>"})

    assert back.status_code == 403
    assert "&lt;b&gt;no&lt;/b&gt;" in back.text


async def test_nobody_is_led_elsewhere_after_logging_in(browser: httpx.AsyncClient, provider: Provider) -> None:
    provider.claims = {"groups": ["editors"]}

    back = await browser.get(provider.sent_back(await led_away(browser, "/login/oidc?next=//evil.example")))

    assert back.headers["Location"] == "/"


async def test_a_provider_that_does_not_answer_is_said_not_to(browser: httpx.AsyncClient, provider: Provider) -> None:
    provider.metadata = {"issuer": "https://evil.example"}

    with capture_logs() as logs:
        answer = await browser.get("/login/oidc")

    assert answer.status_code == 502
    assert "The provider does not answer" in answer.text
    assert 'name="key"' in answer.text
    assert "oidc.provider_failed" in [log["event"] for log in logs]


async def test_who_comes_back_with_nonsense_over_and_over_is_told_to_wait(
    browser: httpx.AsyncClient, provider: Provider
) -> None:
    await led_away(browser)
    statuses: list[int] = []
    # On a slow machine a second may end between two tries, and the count with it.
    while 429 not in statuses[-FAILURES_MAX:] and len(statuses) < 100 * FAILURES_MAX:
        statuses.append((await browser.get("/login/oidc/callback?code=x&state=y")).status_code)

    assert set(statuses) == {403, 429}


async def test_nothing_secret_of_a_login_is_logged(
    server: FastAPI, browser: httpx.AsyncClient, provider: Provider
) -> None:
    away = await led_away(browser)
    back, record = provider.sent_back(away), browser.cookies[RECORD]
    given = provider.id_token("n").split(".")[0]
    with capture_logs() as logs:
        await browser.get(back)
        provider.claims = {"groups": ["editors"]}
        await browser.get(provider.sent_back(await led_away(browser)))

    said = str(logs)
    assert "oidc.not_admitted" in said
    for secret in (record, parse_qs(urlsplit(back).query)["code"][0], given, SECRET, browser.cookies[SESSION]):
        assert secret not in said


async def test_without_a_provider_there_is_no_link_to_one(app: FastAPI) -> None:
    async with stranger_to(app) as browser:
        assert "/login/oidc" not in (await browser.get("/login")).text
        for path in ("/login/oidc", "/login/oidc/callback?code=x&state=y"):
            assert code_of(await browser.get(path)) == (404, "not_found")
