"""`officeplane dags` against a running installation."""

import json

from tests.cli.conftest import Officeplane, Plane

UNKNOWN_ID = "01890a5d-ac96-774b-bcce-b302099a8057"
CHAIN = json.dumps(
    {
        "title": "A chain",
        "tasks": [
            {"key": "first", "taskType": "noop"},
            {"key": "second", "taskType": "noop", "dependsOn": ["first"], "runAt": "2090-01-01T00:00:00Z"},
        ],
    }
)


async def test_a_dag_is_submitted_shown_listed_and_cancelled(officeplane: Officeplane, plane: Plane) -> None:
    made = await officeplane("dags", "submit", "-", "--json", env=plane.env, stdin=CHAIN)
    dag_id = str(made.object["id"])

    shown = await officeplane("dags", "show", dag_id, env=plane.env)
    listed = await officeplane("dags", "list", "--limit", "500", "--json", env=plane.env)
    cancelled = await officeplane("dags", "cancel", dag_id, "--reason", "no", env=plane.env)
    again = await officeplane("dags", "cancel", dag_id, env=plane.env)

    assert (made.code, shown.code, listed.code, cancelled.code, again.code) == (0, 0, 0, 0, 1)
    assert "first -> second" in shown.out
    assert dag_id in [dag["id"] for dag in listed.objects]
    assert f"{dag_id} is cancelled" in cancelled.out


async def test_a_cycle_is_refused_with_its_keys(officeplane: Officeplane, plane: Plane) -> None:
    body = '{"tasks": [{"key": "a", "taskType": "noop", "dependsOn": ["a"]}]}'

    ended = await officeplane("dags", "submit", body, env=plane.env)

    assert ended.code == 1
    assert "a -> a" in ended.err


async def test_an_unknown_dag_is_exit_code_1_and_no_answer_3(officeplane: Officeplane, plane: Plane) -> None:
    unknown = await officeplane("dags", "show", UNKNOWN_ID, env=plane.env)
    nobody = await officeplane("dags", "list", env={"OFFICEPLANE_URL": "http://127.0.0.1:9"})

    assert (unknown.code, nobody.code) == (1, 3)
