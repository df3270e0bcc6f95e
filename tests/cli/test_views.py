"""What a terminal shows of tasks."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue
from rich.console import Console, RenderableType

from officeplane.cli import views
from officeplane.cli.answers import Child, Event, Explanation, Failure, Reason, Task, TaskError
from officeplane.cli.dead_letters.answers import Letter
from officeplane.cli.dead_letters.showing import letter_table
from officeplane.cli.details import children_tree, task_details
from officeplane.cli.texts import age, one_line, printable, span, without_secrets
from officeplane.domain.lifecycle import TaskState

NOW = datetime(2030, 1, 31, 12, tzinfo=UTC)
ID = "019c1a2b-3c4d-7e5f-8a6b-7c8d9e0f1a2b"
OTHER_ID = "019c1a2b-3c4d-7e5f-8a6b-7c8d9e0f1a2c"


def drawn(picture: RenderableType, width: int = 200) -> str:
    console = Console(width=width, markup=False, highlight=False, force_terminal=False)
    with console.capture() as capture:
        console.print(picture)
    return capture.get()


def a_task(**fields: object) -> Task:
    return Task.model_validate({"id": ID, "task_type": "noop", "state": "QUEUED", **fields})


@pytest.mark.parametrize(("width", "shown"), [(40, ID[-8:]), (60, ID[-8:]), (80, ID[-8:]), (200, ID)])
def test_an_id_is_short_in_a_window_that_has_no_room_for_it(width: int, shown: str) -> None:
    table = views.task_table([a_task(document_id="d" * 20, title="t" * 90)], NOW, width)

    assert shown in drawn(table, width).split()


def test_short_ids_are_as_long_as_it_takes_to_tell_them_apart() -> None:
    ids = [ID, f"{ID[:-9]}e9e0f1a2b"]

    shown = drawn(views.task_table([a_task(id=one, title="t" * 90) for one in ids], NOW, 60), 60)

    assert {one[-9:] for one in ids} <= {*shown.split()}


def test_eighty_columns_keep_what_matters_on_one_line() -> None:
    tasks = [
        a_task(document_id="contract-42", task_type="replace_text", priority="NORMAL", attempt=1, created_at=NOW),
        a_task(id=OTHER_ID, document_id="contract-42", task_type="edit_node", state="RUNNING", priority="HIGH"),
    ]

    lines = drawn(views.task_table(tasks, NOW, 80), 80).splitlines()

    assert any(ID[-8:] in line and "replace_text" in line and "contract-42" in line for line in lines)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_narrow_window_shows_below_a_task_what_it_has_no_column_for(width: int) -> None:
    failed = a_task(
        state="FAILED", document_id="report", task_type="acme.estimate", created_at=NOW - timedelta(hours=3)
    )
    failed = failed.model_copy(update={"error": TaskError(kind="timeout", message="no answer in 5 s")})

    shown = drawn(views.task_table([a_task(), failed], NOW, width), width)

    words = " ".join(shown.split())
    shown_id = ID if width == 200 else ID[-8:]
    for what in (
        shown_id,
        "FAILED",
        "acme.estimate",
        "report",
        "3 h",
        "timeout: no answer in 5 s",
    ):
        assert what in words
    assert max(map(len, shown.splitlines())) <= width


def test_a_batch_in_a_narrow_window_shows_how_far_it_is() -> None:
    batch = a_task(state="RUNNING", task_type="batch_edit", child_counts={"COMPLETED": 1, "RUNNING": 1})

    assert "1 completed, 1 running" in drawn(views.task_table([batch], NOW, 80), 80)


@pytest.mark.parametrize("state", list(TaskState))
def test_every_state_has_a_colour(state: TaskState) -> None:
    assert views.state_text(state).style


def test_a_state_of_a_newer_server_is_shown_plain() -> None:
    assert views.state_text("PAUSED").plain == "PAUSED"


def test_users_brackets_are_not_markup() -> None:
    assert "[/red] [bold]" in drawn(views.task_table([a_task(title="[/red] [bold]")], NOW, 200))


@given(st.text())
def test_no_text_of_a_user_can_steer_the_terminal(text: str) -> None:
    assert all(char.isprintable() or char in "\n\t" for char in printable(text))


@given(st.text())
def test_a_note_is_one_line_of_bounded_length(text: str) -> None:
    line = one_line(text)

    assert len(line) <= 100
    assert "\n" not in line


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"title": "Summary"}, "Summary"),
        (
            {"state": "FAILED", "error": TaskError(kind="permanent", message="no such sheet")},
            "permanent: no such sheet",
        ),
        ({"state": "COMPLETED", "error": TaskError(kind="error", message="once"), "title": "x"}, "x"),
        ({"state": "RUNNING", "cancel_requested_at": NOW}, "cancel requested"),
        ({"state": "CANCELLED", "cancel_requested_at": NOW}, ""),
        ({"child_counts": {"COMPLETED": 2, "FAILED": 0, "QUEUED": 1}}, "2 completed, 1 queued"),
        ({"state": "RUNNING", "progress": {"fraction": 0.5, "message": "read"}}, "50% read"),
    ],
)
def test_the_note_says_the_one_thing_worth_knowing(fields: dict[str, object], said: str) -> None:
    assert views.note(a_task(**fields)) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.25, "25%"), ("halfway", "halfway"), ({"page": 3}, '{"page": 3}'), (True, "true"), ({"fraction": 1}, "100%")],
)
def test_progress_of_any_shape_can_be_shown(value: JsonValue, said: str) -> None:
    assert views.progress(value) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0001, "under 1 ms"),
        (0.25, "250 ms"),
        (1, "1 s"),
        (2.5, "2.5 s"),
        (90, "90 s"),
        (150, "2 min"),
        (7300, "2 h"),
        (200_000, "2 d"),
    ],
)
def test_a_span_is_said_in_the_unit_people_would_use(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_an_age_looks_both_ways() -> None:
    assert age(NOW - timedelta(seconds=3), NOW) == "3 s ago"
    assert age(NOW + timedelta(seconds=30), NOW) == "in 30 s"
    assert age(NOW + timedelta(milliseconds=200), NOW) == "now"
    assert age(None, NOW) == ""


@pytest.mark.parametrize(("effective", "told"), [(20.0, "HIGH (20)"), (19.6, "HIGH (20)"), (-3.5, "by now -3.5")])
def test_a_task_that_has_become_more_urgent_says_so(effective: float, told: str) -> None:
    task = a_task(priority="HIGH", priority_value=20, effective_priority=effective, deadline=NOW)

    shown = drawn(task_details(task, NOW))

    assert told in shown
    assert ("by now" in shown) == ("by now" in told)
    assert "2030-01-31T12:00:00" in shown


@pytest.mark.parametrize(
    ("state", "attempt", "failed", "said"),
    [
        ("QUEUED", 0, 0, ""),
        ("RUNNING", 1, 0, "1 (none failed so far; it gives up after 4)"),
        ("RETRYING", 3, 2, "3 (2 failed so far; it gives up after 4)"),
        ("COMPLETED", 1, 0, "1"),
        ("COMPLETED", 3, 2, "3 (2 failed)"),
        ("FAILED", 4, 4, "4 (4 failed)"),
    ],
)
def test_attempts_are_told_in_plain_words(state: str, attempt: int, failed: int, said: str) -> None:
    shown = drawn(task_details(a_task(state=state, attempt=attempt, attempts_charged=failed, max_retries=3), NOW))

    told = [line.split(maxsplit=1)[1].strip() for line in shown.splitlines() if line.startswith("attempt")]
    assert told == ([said] if said else [])


def test_a_task_that_runs_says_when_its_worker_was_heard_last() -> None:
    task = a_task(state="RUNNING", worker_id="worker:here:7")

    assert "worker:here:7  (last heard 3 s ago)" in drawn(task_details(task, NOW, "  (last heard 3 s ago)"))


def test_details_leave_out_what_is_not_known() -> None:
    shown = drawn(task_details(a_task(document_id="report"), NOW))

    assert "report" in shown
    assert "worker" not in shown


def test_children_are_a_tree_in_their_order() -> None:
    batch = a_task(task_type="batch_edit")
    families = {
        ID: (Child(id=OTHER_ID, task_type="batch_edit", state="RUNNING", key="inner"),),
        OTHER_ID: (
            Child(id="first", task_type="noop", state="COMPLETED"),
            Child(id="second", task_type="noop", state="QUEUED"),
        ),
    }

    lines = drawn(children_tree(batch, families)).splitlines()

    assert [line.lstrip("│├└─ ").split()[0] for line in lines] == [ID, OTHER_ID, "first", "second"]


def test_failures_are_told_attempt_by_attempt() -> None:
    failure = Failure(attempt=1, kind="timeout", message="ran out of time", duration_seconds=2.5, started_at=NOW)

    shown = drawn(views.failure_table([failure], NOW + timedelta(minutes=5), 200))

    for fact in ("timeout", "ran out of time", "2.5 s", "5 min ago"):
        assert fact in shown


def test_an_explanation_gives_every_reason() -> None:
    explanation = Explanation(runnable=False, reasons=(Reason(code="lane", detail="behind 3 others"),))

    assert [line.plain for line in views.explanation_lines(explanation)] == ["not runnable", "  lane: behind 3 others"]


def test_an_event_is_one_line_with_its_whole_id() -> None:
    event = Event(type="task.completed", task_id=ID, document_id="report", state="COMPLETED", at=NOW)

    assert views.change_line(event).plain == f"2030-01-31T12:00:00.000Z  task.completed  {ID}  report"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:secret@db:5432/plane?password=secret", "postgresql://db:5432/plane"),
        ("redis://:secret@cache/0", "redis://cache/0"),
        ("redis://[secret", "the URL given"),
        ("redis://:sec/ret@cache/0", "the URL given"),
        ("postgresql://me:sec#ret@db:5432/plane", "the URL given"),
        ("me:secret@db:5432/plane", "the URL given"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert without_secrets(url) == shown


def test_dead_letters_in_a_narrow_window_show_what_broke_and_how() -> None:
    letter = Letter.model_validate(
        {
            "task_id": ID,
            "task_type": "acme.estimate",
            "fingerprint": "2f1d8c53a9e07b64",
            "error": {"kind": "error", "message": "the price list is empty"},
            "dead_lettered_at": NOW,
        }
    )

    words = " ".join(drawn(letter_table([letter], NOW, 80), 80).split())

    for what in (ID[-8:], "2f1d8c53a9e07b64", "acme.estimate", "error: the price list is empty"):
        assert what in words
