"""Ids by their ends: what lists have shown in a narrow window is accepted wherever an id is asked for."""

import asyncio
import os
import pty
import re
import sys
from pathlib import Path

import pytest

from officeplane.cli.exits import UsageError
from officeplane.cli.short_ids import REMEMBERED, ends_of, remember, whole_id
from tests.cli.conftest import PROGRAM, Officeplane, Plane, Tasks

ID = "019c1a2b-3c4d-7e5f-8a6b-7c8d9e0f1a2b"
OTHER_ID = "019c1a2b-3c4d-7e5f-8a6b-7c8d000f1a2b"


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user who has seen nothing yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("end", [ID[-8:], ID[-4:], ID[-8:].upper(), ID[-15:], ID])
def test_an_end_is_as_good_as_what_was_shown(end: str) -> None:
    remember([ID])

    assert whole_id(end) == ID


@pytest.mark.parametrize("given", ["1a2", "00000000", "nope", "a-name-of-a-key", "../../etc", ""])
def test_what_ends_nothing_that_was_shown_stays_as_it_is(given: str) -> None:
    remember([ID])

    assert whole_id(given) == given


def test_an_end_of_several_is_refused_with_all_of_them() -> None:
    remember([ID])
    remember([OTHER_ID])

    with pytest.raises(UsageError) as refused:
        whole_id("0f1a2b")

    assert {line.strip() for line in refused.value.lines[1:]} == {ID, OTHER_ID}


def test_ends_are_as_long_as_it_takes() -> None:
    assert ends_of([ID]) == {ID: "9e0f1a2b"}
    alike = f"{ID[:-9]}e9e0f1a2b"
    assert ends_of([ID, alike]) == {ID: "d9e0f1a2b", alike: "e9e0f1a2b"}


def test_what_was_shown_long_ago_is_forgotten() -> None:
    remember([ID])
    remember([OTHER_ID])
    remember(f"019c1a2b-3c4d-7e5f-8a6b-{number:012x}" for number in range(REMEMBERED - 1))

    assert whole_id("9e0f1a2b") == "9e0f1a2b"
    assert whole_id("000f1a2b") == OTHER_ID


def test_a_folder_that_cannot_be_written_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch, state: Path) -> None:
    (state / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(state / "file"))

    remember([ID])

    assert whole_id(ID) == ID


async def test_a_list_in_a_narrow_terminal_shows_ids_that_commands_take(
    officeplane: Officeplane, plane: Plane, tasks: Tasks, state: Path
) -> None:
    task_id = await tasks.submit("noop", documentId="contract-42", title="t" * 90)

    shown = await in_terminal("tasks", "list", "--limit", "3", env=dict(plane.env))

    end = next(word for word in re.findall(r"[0-9a-f]{8,}", shown) if task_id.endswith(word))
    assert task_id not in shown
    ended = await officeplane("tasks", "show", end, "--json", env={**plane.env, "XDG_STATE_HOME": str(state)})
    assert ended.object["id"] == task_id


async def in_terminal(*arguments: str, env: dict[str, str]) -> str:
    """What the program writes in a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            PROGRAM, *arguments, env={**os.environ, **env, "COLUMNS": "80", "TERM": "xterm"},
            stdin=theirs, stdout=theirs, stderr=sys.stderr,
        )  # fmt: skip
        assert await asyncio.wait_for(process.wait(), 45) == 0
        return os.read(ours, 65_536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
