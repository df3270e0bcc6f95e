"""`officeplane audit` against a running installation, and how it looks."""

import getpass
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from rich.console import Console

from officeplane.cli.answers import Deed
from officeplane.cli.audit.showing import deed_table, time_in
from officeplane.cli.exits import UsageError
from officeplane.store.migrate import migrate
from tests.cli.conftest import Officeplane, Plane, Tasks
from tests.conftest import NewDatabase

NOW = datetime(2030, 1, 31, 12, tzinfo=UTC)
ID = "019c1a2b-3c4d-7e5f-8a6b-7c8d9e0f1a2b"


def drawn(deeds: list[Deed], width: int) -> str:
    console = Console(width=width, markup=False, highlight=False, force_terminal=False)
    with console.capture() as capture:
        console.print(deed_table(deeds, NOW, width))
    return capture.get()


async def test_what_was_done_to_a_task_is_listed_the_latest_first(
    officeplane: Officeplane, plane: Plane, tasks: Tasks
) -> None:
    task_id = str((await tasks("submit", "noop", "--run-at", "2100-01-01T00:00:00Z", "--json")).object["id"])
    await tasks("cancel", task_id)

    listed = await officeplane("audit", "--target", task_id, "--since", "1h", env=plane.env)
    as_json = await officeplane("audit", "--target", task_id, "--json", env=plane.env)

    assert listed.code == 0
    assert listed.out.index("task.cancel") < listed.out.index("task.submit")
    assert task_id in listed.out
    cancelled, submitted = as_json.objects
    assert (cancelled["action"], submitted["action"]) == ("task.cancel", "task.submit")
    assert (submitted["taskIds"], submitted["address"]) == ([task_id], "127.0.0.1")


async def test_nothing_that_matches_is_said_beside_the_list(officeplane: Officeplane, plane: Plane) -> None:
    ended = await officeplane("audit", "--by", "key:nobody", env=plane.env)

    assert (ended.code, ended.out) == (0, "")
    assert "Nobody" in ended.err


async def test_what_is_done_on_the_database_is_local_on_behalf_of_whoever_types(
    officeplane: Officeplane, new_database: NewDatabase
) -> None:
    url = await new_database()
    await migrate(url)
    env = {"OFFICEPLANE_DATABASE_URL": url}

    await officeplane("keys", "create", "bot", "--scope", "read", env=env)
    await officeplane("keys", "rotate", "bot", env=env)
    await officeplane("keys", "revoke", "bot", env=env)

    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch("SELECT caller, kind, on_behalf_of, address, action FROM audit ORDER BY seq")
    finally:
        await connection.close()
    who = ("local", "local", getpass.getuser(), None)
    # All of a name are revoked: the one that was replaced works yet.
    actions = ["key.create", "key.rotate", "key.revoke", "key.revoke"]
    assert [tuple(row) for row in rows] == [(*who, action) for action in actions]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_narrow_window_loses_nothing(width: int) -> None:
    deed = Deed(
        id=7,
        at=NOW - timedelta(hours=3),
        by="key:bot",
        on_behalf_of="ann",
        address="203.0.113.7",
        action="document.upload",
        target="report-2029",
        task_ids=(ID,),
        tasks=1,
        before={"revision": 4},
        after={"sha256": "2f1d8c53a9e07b64"},
    )

    shown = drawn([deed, Deed(id=6, by="local", action="task.submit", task_ids=(ID, ID), tasks=1200)], width)

    words = "".join(shown.split())
    for what in (
        "key:bot",
        "ann",
        "203.0.113.7",
        "document.upload",
        "report-2029",
        ID,
        "2f1d8c53a9e07b64",
        "1200tasks",
    ):
        assert what in words
    assert max(map(len, shown.splitlines())) <= width


def test_a_time_is_one_or_a_span_that_ends_now() -> None:
    assert time_in("--since", "2030-01-31T13:00:00+01:00") == "2030-01-31T12:00:00.000Z"
    ago = datetime.now(UTC) - datetime.fromisoformat(time_in("--since", "2h"))
    assert timedelta(hours=2) <= ago < timedelta(hours=2, minutes=1)
    for wrong in ("yesterday", "2030-01-31T13:00:00", ""):
        with pytest.raises(UsageError):
            time_in("--since", wrong)
