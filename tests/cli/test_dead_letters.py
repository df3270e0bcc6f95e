"""`officeplane dead-letters` against a running installation."""

import pytest

from officeplane.services.operate.dead_letters import ALIKE_AT_ONCE
from tests.cli.conftest import Ended, Officeplane, Plane, Tasks

UNKNOWN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"


class Letters:
    """`officeplane dead-letters` in this plane."""

    def __init__(self, officeplane: Officeplane, plane: Plane) -> None:
        self._officeplane = officeplane
        self._plane = plane

    async def __call__(self, *arguments: str, stdin: str = "") -> Ended:
        return await self._officeplane("dead-letters", *arguments, env=self._plane.env, stdin=stdin)


@pytest.fixture
def letters(officeplane: Officeplane, plane: Plane) -> Letters:
    return Letters(officeplane, plane)


async def that_timed_out(tasks: Tasks, *options: str) -> str:
    """Let a task run out of time and return its id."""
    ended = await tasks(
        *("submit", "sleep", "--payload", '{"seconds": 60}', "--timeout", "0.1", "--max-retries", "0"),
        *("--wait", "20", "--json", *options),
    )
    assert ended.object["state"] == "TIMEOUT"
    return str(ended.object["id"])


async def test_what_gave_up_is_listed_and_shown_with_why(letters: Letters, tasks: Tasks) -> None:
    task_id = await that_timed_out(tasks, "--document", "cli-letters-1")

    listed = await letters("list", "--document", "cli-letters-1")
    shown = await letters("show", task_id)

    assert (listed.code, shown.code) == (0, 0)
    assert task_id in listed.out
    assert "timeout: " in listed.out
    assert task_id in shown.out
    assert "fingerprint" in shown.out
    assert "resolved     no" in shown.out


async def test_both_reading_commands_have_json(letters: Letters, tasks: Tasks) -> None:
    task_id = await that_timed_out(tasks, "--document", "cli-letters-2")

    listed = await letters("list", "--document", "cli-letters-2", "--type", "sleep", "--json")
    shown = await letters("show", task_id, "--json")

    assert listed.objects == [shown.object]
    assert shown.object["taskId"] == task_id
    assert (await letters("list", "--fingerprint", "none", "--json")).objects == []


async def test_a_letter_is_resolved_by_who_runs_the_command_unless_told_otherwise(
    letters: Letters, tasks: Tasks
) -> None:
    one, other = [await that_timed_out(tasks, "--document", "cli-letters-3") for _ in range(2)]

    ended = await letters("resolve", one, "--as", "cancel", "--note", "Nobody needs it.")
    named = await letters("resolve", other, "--as", "cancel", "--by", "alice", "--json")

    assert (ended.code, ended.out) == (0, f"{one} is resolved: cancel\n")
    resolved = (await letters("show", one, "--json")).object
    assert resolved["resolvedBy"]
    assert resolved["note"] == "Nobody needs it."
    assert named.object["resolvedBy"] == "alice"
    assert (await letters("list", "--document", "cli-letters-3", "--json")).objects == []
    assert len((await letters("list", "--document", "cli-letters-3", "--all", "--json")).objects) == 2
    assert "cancel" in (await letters("list", "--document", "cli-letters-3", "--all")).out


async def test_a_task_is_tried_again_with_what_stdin_says(letters: Letters, tasks: Tasks) -> None:
    task_id = await that_timed_out(tasks)

    ended = await letters(
        "resolve", task_id, "--as", "modify-and-retry", "--payload", "-", "--json", stdin='{"seconds": 0}'
    )

    assert ended.code == 0
    assert ended.object["resolution"] == "modify_and_retry"
    assert (await tasks.read(task_id))["payload"] == {"seconds": 0}


async def test_a_note_alone_leaves_it_unresolved(letters: Letters, tasks: Tasks) -> None:
    task_id = await that_timed_out(tasks)

    ended = await letters("resolve", task_id, "--note", "Asked the authors.")

    assert (ended.code, ended.out) == (0, f"{task_id} is still unresolved\n")
    assert "Asked the authors." in (await letters("show", task_id)).out


async def test_all_of_one_cause_are_resolved_however_many(letters: Letters, tasks: Tasks) -> None:
    many = ALIKE_AT_ONCE + 5
    for _ in range(many):
        await tasks.submit("cli.fail", documentId="cli-letters-many")
    last = await tasks("submit", "cli.fail", "--document", "cli-letters-many", "--wait", "20", "--json")
    fingerprint = str((await letters("show", str(last.object["id"]), "--json")).object["fingerprint"])

    ended = await letters("resolve", "--fingerprint", fingerprint, "--as", "cancel")
    nothing = await letters("resolve", "--fingerprint", fingerprint, "--as", "cancel", "--json")

    assert ended.code == 0
    count = int(ended.out.split()[0])
    assert count >= many + 1
    assert f"{ALIKE_AT_ONCE} done, going on" in ended.err
    assert (nothing.code, nothing.object["count"]) == (0, 0)
    assert (await letters("list", "--fingerprint", fingerprint, "--json")).objects == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show", "no-id"], "dead_letter_not_found"),
        (["resolve", "no-id", "--as", "retry"], "dead_letter_not_found"),
        (["resolve", "--fingerprint", "none", "--as", "retry"], "dead_letter_not_found"),
        (["resolve", UNKNOWN_ID, "--as", "ignore"], "invalid_request"),
        (["resolve", UNKNOWN_ID, "--as", "retry", "--payload", "{}"], "invalid_request"),
    ],
)
async def test_what_is_refused_ends_with_1_and_says_why(letters: Letters, arguments: list[str], code: str) -> None:
    ended = await letters(*arguments)

    assert (ended.code, ended.out) == (1, "")
    assert f"({code})" in ended.err


async def test_a_letter_that_is_resolved_is_refused(letters: Letters, tasks: Tasks) -> None:
    task_id = await that_timed_out(tasks)
    await letters("resolve", task_id, "--as", "cancel")

    ended = await letters("resolve", task_id, "--as", "retry")

    assert ended.code == 1
    assert "(illegal_state)" in ended.err


async def test_doctor_says_how_many_are_unresolved_and_of_what(
    letters: Letters, tasks: Tasks, officeplane: Officeplane, plane: Plane
) -> None:
    await that_timed_out(tasks)

    ended = await officeplane("doctor", env=plane.env)

    assert "unresolved; most of one cause" in ended.out
    assert "officeplane dead-letters list --fingerprint" in ended.out


async def test_a_server_that_is_not_there_ends_with_3(officeplane: Officeplane) -> None:
    ended = await officeplane("dead-letters", "list", env={"OFFICEPLANE_URL": "http://127.0.0.1:9"})

    assert (ended.code, ended.out) == (3, "")
