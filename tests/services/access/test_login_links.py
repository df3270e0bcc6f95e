"""Links with which one logs in: once, within a quarter of an hour, and as what whoever made it allows."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from officeplane.domain.errors import ForbiddenError, OutsideError
from officeplane.domain.principal import LOCAL, Kind, Principal, Scope
from officeplane.domain.space import Space
from officeplane.services.access.login_links import LoginLinks
from officeplane.services.access.sessions import new_token
from tests.workbench import Workbench

EDITOR = Principal("key:editor", Kind.KEY, frozenset({Scope.READ, Scope.EDIT}))


@pytest.fixture
def links(bench: Workbench) -> LoginLinks:
    return bench.runtime.login_links


async def test_whoever_spends_a_link_is_who_made_it_and_may_what_it_says(bench: Workbench, links: LoginLinks) -> None:
    made = await links.create(EDITOR, [Scope.READ])

    token = await links.spend(made.token)

    assert token is not None
    assert token != made.token
    person = await bench.runtime.sessions.person_of(token)
    assert person is not None
    assert person.principal == Principal("person:link:key:editor", Kind.PERSON, frozenset({Scope.READ}))


async def test_the_token_of_a_link_is_nowhere(bench: Workbench, links: LoginLinks) -> None:
    made = await links.create(LOCAL, [Scope.ADMIN])

    assert made.path == f"/login?token={made.token}"
    (row,) = await bench.execute("SELECT login_links::text AS everything FROM login_links")
    assert made.token not in row["everything"]


async def test_a_link_is_spent_once_however_many_try(bench: Workbench, links: LoginLinks) -> None:
    made = await links.create(LOCAL, [Scope.ADMIN])

    spent = await asyncio.gather(*(links.spend(made.token) for _ in range(8)))

    assert len([token for token in spent if token is not None]) == 1
    assert await links.spend(made.token) is None
    (row,) = await bench.execute("SELECT count(*) AS begun FROM sessions")
    assert row["begun"] == 1


async def test_a_link_is_good_for_a_quarter_of_an_hour(bench: Workbench, links: LoginLinks) -> None:
    late, in_time = await links.create(LOCAL, [Scope.READ]), await links.create(LOCAL, [Scope.READ])
    assert timedelta(minutes=14) < late.expires_at - datetime.now(UTC) <= timedelta(minutes=15)
    await bench.execute("UPDATE login_links SET expires_at = expires_at - interval '14 minutes 55 seconds'")

    assert await links.spend(in_time.token) is not None
    await bench.execute("UPDATE login_links SET expires_at = expires_at - interval '5 seconds'")
    assert await links.spend(late.token) is None


async def test_a_link_gives_no_scope_that_whoever_makes_it_has_not(bench: Workbench, links: LoginLinks) -> None:
    with pytest.raises(ForbiddenError):
        await links.create(EDITOR, [Scope.READ, Scope.ADMIN])

    assert await bench.execute("SELECT FROM login_links") == []


@pytest.mark.parametrize(
    "giver",
    [
        replace(EDITOR, space=Space("acme")),
        replace(EDITOR, documents=("plan*",)),
        replace(EDITOR, task_types=("noop",)),
        replace(EDITOR, most_urgent=30),
    ],
)
async def test_a_link_is_not_for_those_to_give_who_have_bounds_that_it_has_not(
    bench: Workbench, links: LoginLinks, giver: Principal
) -> None:
    with pytest.raises(OutsideError):
        await links.create(giver, [Scope.READ])

    assert await bench.execute("SELECT FROM login_links") == []


@pytest.mark.parametrize("token", ["", "x", "x" * 43, "\0" * 43, "é" * 43])
async def test_what_is_no_link_leads_nowhere(links: LoginLinks, token: str) -> None:
    assert await links.spend(token) is None


async def test_a_link_is_no_session_and_a_session_no_link(bench: Workbench, links: LoginLinks) -> None:
    made = await links.create(LOCAL, [Scope.ADMIN])
    session = await links.spend((await links.create(LOCAL, [Scope.ADMIN])).token)

    assert session is not None
    assert await bench.runtime.sessions.person_of(made.token) is None
    assert await links.spend(session) is None
    assert await links.spend(new_token()) is None
