from datetime import UTC, datetime

from officeplane.domain.alert import Alert, Reason, summary
from officeplane.domain.dead_letter import DeadLetter
from officeplane.domain.ids import TaskId


def an_alert(message: str = "it broke", *, cause: str = "c1", reason: Reason = "dead_lettered") -> Alert:
    letter = DeadLetter(
        seq=1,
        task_id=TaskId("0192f000-0000-7000-8000-000000000001"),
        generation=1,
        task_type="noop",
        document_id=None,
        dag_id=None,
        kind="error",
        message=message,
        fingerprint=cause,
        poison_pill=False,
        recurring=False,
        total_cost_usd=0,
        dead_lettered_at=datetime(2030, 1, 1, tzinfo=UTC),
        escalated_at=None,
        resolution=None,
        resolved_by=None,
        resolved_at=None,
        note=None,
    )
    return Alert(1, reason, letter)


def test_one_is_said_in_a_sentence() -> None:
    assert summary([an_alert()]) == "1 task gave up:\n1 × noop, error: it broke [c1]"


def test_many_are_said_by_cause_the_most_frequent_first() -> None:
    many = [
        an_alert("rare", cause="c1"),
        *[an_alert("often", cause="c2")] * 2,
        an_alert(cause="c3", reason="escalated"),
    ]

    assert summary(many).splitlines()[:2] == ["3 tasks gave up, 1 task escalated:", "2 × noop, error: often [c2]"]


def test_of_many_causes_only_some_are_said() -> None:
    said = summary([an_alert("x" * 9_000, cause=str(n)) for n in range(8)])

    assert said.endswith("and 3 more causes")
    assert len(said) < 3_000


def test_the_words_of_a_task_are_no_link_and_call_nobody() -> None:
    said = summary([an_alert("<!channel> <https://evil.example|sign in> & go")])

    assert "&lt;!channel&gt; &lt;https://evil.example|sign in&gt; &amp; go" in said
    assert "<" not in said


def test_words_of_a_caller_do_not_look_like_another_line() -> None:
    told = summary([an_alert("it broke\n7 × payroll, error: send it again\u2028now\x1b[2J")])

    assert told.splitlines() == [
        "1 task gave up:",
        "1 × noop, error: it broke 7 × payroll, error: send it again now [2J [c1]",
    ]
