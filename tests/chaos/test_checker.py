"""The checker finds every violation in stories made by hand, and nothing in stories without one."""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.checker import check
from tests.chaos.evidence import FailureRow, Remains
from tests.chaos.history import Wanted
from tests.chaos.processes import Death
from tests.chaos.story import Story

Tale = Callable[[Story], None]


def a_busy_day(story: Story) -> None:
    """Everything that may happen without harm."""
    story.task("plain")
    story.done("plain")
    first, second = story.task("first", "doc"), story.task("second", "doc")
    story.done(first)
    story.done(second)
    story.task("flaky", "doc")
    story.claimed("flaky")
    story.failed("flaky")
    story.wait(0.3)
    story.done("flaky")
    story.task("hopeless")
    story.claimed("hopeless")
    story.failed("hopeless", "permanent", then="FAILED")
    story.operation("retry", target="hopeless", status=200)
    story.event("hopeless", "QUEUED")
    story.done("hopeless")
    story.task("unwanted")
    story.operation("cancel", target="unwanted", status=200)
    story.cancelled("unwanted")
    children = story.batch("family", 2)
    story.event("family", "RUNNING")
    story.done(children[0])
    story.event(children[1], "QUEUED")
    story.done(children[1])
    story.event("family", "COMPLETED")
    story.evidence.counters["completed"] += 1
    story.operation("observe", target="family", status=200, state="COMPLETED")


def a_zombie_is_fenced(story: Story) -> None:
    """A frozen worker's handler runs on beside its successor, and changes nothing."""
    story.task("frozen", "doc")
    story.claimed("frozen")
    story.wait(2.5)
    story.event("frozen", "RETRYING")
    story.evidence.failures.append(_crash(story, "frozen", 1))
    story.change("frozen", attempts_charged=1)
    story.evidence.counters["retrying"] = 1
    story.claimed("frozen")
    story.mark("end", "frozen", 1)
    story.completed("frozen")


def a_final_task_is_changed(story: Story) -> None:
    story.task("one")
    story.done("one")
    story.event("one", "RUNNING")


def a_running_task_is_claimed_again(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.claimed("one")
    story.completed("one")


def a_task_completes_twice(story: Story) -> None:
    story.task("one")
    story.done("one")
    story.event("one", "COMPLETED")


def two_occupy_a_document(story: Story) -> None:
    story.task("one", "doc")
    story.task("two", "doc")
    story.claimed("one")
    story.claimed("two")
    story.completed("one")
    story.completed("two")


def a_task_is_freed_while_its_handler_runs(story: Story) -> None:
    story.task("one", "doc")
    story.task("two", "doc")
    story.claimed("one")
    story.event("one", "CANCELLED")
    story.claimed("two")
    story.mark("end", "one", 1)
    story.completed("two")


def a_stale_attempt_writes_the_result(story: Story) -> None:
    a_zombie_is_fenced(story)
    story.change("frozen", result_attempt=1)


def a_result_is_anothers(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.completed("one", result_token="two")


def a_task_completes_without_running(story: Story) -> None:
    story.task("one")
    story.change("one", attempt=1)
    story.event("one", "RUNNING")
    story.change("one", result_token="one", result_attempt=1)
    story.event("one", "COMPLETED")


def a_lease_is_cut_short(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.wait(1.9)
    story.seen("one")
    story.wait(0.5)
    story.event("one", "RETRYING")
    story.evidence.failures.append(_crash(story, "one", 1))
    story.change("one", attempts_charged=1)
    story.done("one")


def a_lane_is_overtaken(story: Story) -> None:
    story.task("one", "doc")
    story.task("two", "doc")
    story.wait(1)
    story.done("two")
    story.done("one")


def a_retry_is_overtaken(story: Story) -> None:
    story.task("one", "doc")
    story.task("two", "doc")
    story.claimed("one")
    story.failed("one")
    story.wait(1)
    story.done("two")
    story.done("one")


def a_batch_ends_before_its_children(story: Story) -> None:
    children = story.batch("family", 2)
    story.event("family", "RUNNING")
    story.done(children[0])
    story.event("family", "COMPLETED")


def a_batch_never_hears_of_its_children(story: Story) -> None:
    (child,) = story.batch("family", 1)
    story.event("family", "RUNNING")
    story.done(child)


def a_child_has_its_turn_too_early(story: Story) -> None:
    children = story.batch("family", 2)
    story.event("family", "RUNNING")
    story.event(children[1], "QUEUED")
    story.done(children[0])
    story.done(children[1])
    story.event("family", "COMPLETED")


def a_child_runs_after_its_batch_was_cancelled(story: Story) -> None:
    (child,) = story.batch("family", 1)
    story.cancelled("family")
    story.done(child)


def a_child_is_given_a_wrong_result(story: Story) -> None:
    children = story.batch("family", 2)
    story.event("family", "RUNNING")
    story.done(children[0])
    story.event(children[1], "QUEUED")
    story.change(children[1], wanted_echo="first.token", result_echo=None)
    story.done(children[1])
    story.event("family", "COMPLETED")


def a_lock_is_left_behind(story: Story) -> None:
    story.evidence.remains = Remains(locks=("officeplane:doclock:doc",))


def hints_are_left_behind(story: Story) -> None:
    story.evidence.remains = Remains(hints=3)


def a_session_sits_in_a_transaction(story: Story) -> None:
    story.evidence.remains = Remains(sessions=1, sessions_in_transaction=1)


def poison_goes_on(story: Story) -> None:
    story.task("poison", task_type="chaos.child")
    for last in (False, False, True):
        attempt = story.claimed("poison")
        story.mark("exit", "poison", attempt)
        story.failed("poison", "crash", then="FAILED" if last else "RETRYING", message="its process ended by itself")
    story.change("poison", poison_pill=True)


def an_innocent_is_called_poison(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.failed("one", "crash", then="FAILED")
    story.change("one", poison_pill=True)


def a_hand_back_is_charged(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.event("one", "QUEUED")
    story.change("one", attempts_charged=1)
    story.done("one")


def a_failure_is_not_charged(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.failed("one")
    story.change("one", attempts_charged=0)
    story.wait(1)
    story.done("one")


def a_task_gives_up_too_early(story: Story) -> None:
    story.task("one", max_retries=3)
    story.claimed("one")
    story.failed("one", then="FAILED")


def a_task_gives_up_without_a_letter(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.failed("one", "permanent", then="FAILED")
    story.evidence.events.pop()


def a_failure_leaves_no_record(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.failed("one")
    story.evidence.failures.clear()
    story.wait(1)
    story.done("one")


def an_acknowledged_task_is_lost(story: Story) -> None:
    story.operation("submit", status=201, wanted=(Wanted("gone"),), task_ids=("gone",))


def a_key_makes_two_tasks(story: Story) -> None:
    story.task("one")
    story.task("other")
    story.change("other", title="one")
    story.done("one")


def a_batch_is_stored_in_part(story: Story) -> None:
    (child,) = story.batch("family", 1)
    story.evidence.history[0].wanted = (Wanted("family", (Wanted(child), Wanted("family/1"))),)
    story.event("family", "RUNNING")
    story.done(child)
    story.event("family", "COMPLETED")


def nobody_asked_for_it(story: Story) -> None:
    story.task("one")
    story.done("one")
    story.evidence.history.clear()


def a_retry_comes_too_early(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.failed("one")
    story.wait(0.1)
    story.done("one")


def a_second_retry_comes_too_early(story: Story) -> None:
    story.task("one")
    for _ in range(2):
        story.claimed("one")
        story.failed("one")
        story.wait(0.3)
    story.done("one")


def a_task_runs_before_its_time(story: Story) -> None:
    story.task("one", state="PENDING")
    story.evidence.history[-1].wanted = (Wanted("one", run_at=story.now + 5),)
    story.event("one", "QUEUED")
    story.done("one")


def a_cancellation_is_forgotten(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.operation("cancel", target="one", status=202)
    story.completed("one")


def a_retry_is_forgotten(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.failed("one", "permanent", then="FAILED")
    story.operation("retry", target="one", status=200)


def a_task_reopens_by_itself(story: Story) -> None:
    story.task("one")
    story.claimed("one")
    story.failed("one", "permanent", then="FAILED")
    story.event("one", "QUEUED")
    story.operation("retry", target="one", status=200)
    story.claimed("one")
    story.failed("one", "permanent", then="FAILED")
    story.event("one", "QUEUED")
    story.done("one")


def a_counter_lies(story: Story) -> None:
    story.task("one")
    story.done("one")
    story.evidence.counters["completed"] = 2


def a_follower_misses_an_event(story: Story) -> None:
    story.task("one")
    story.done("one")
    story.evidence.heard = {story.evidence.events[0].position}


def a_follower_hears_nothing(story: Story) -> None:
    story.task("one")
    story.done("one")
    story.evidence.heard = set()


def events_are_told_in_the_wrong_order(story: Story) -> None:
    story.task("one")
    story.done("one")
    last = story.evidence.events[-1]
    story.evidence.events[-1] = replace(last, position="600-1-0")
    story.evidence.heard = None


def an_answer_shows_what_never_was(story: Story) -> None:
    story.task("one")
    story.wait(1)
    story.operation("observe", target="one", status=200, state="COMPLETED")
    story.wait(1)
    story.done("one")


def an_api_answers_500(story: Story) -> None:
    story.operation("submit", odd=["500 internal_error"])


def somebody_works_without_a_lock(story: Story) -> None:
    story.evidence.healed_at = story.now
    story.task("one", "doc")
    story.wait(10)
    story.claimed("one")
    story.seen("one", lock_value=None)
    story.completed("one")


def a_lock_has_no_nonce(story: Story) -> None:
    story.evidence.healed_at = story.now
    story.task("one", "doc")
    story.wait(10)
    story.claimed("one")
    story.seen("one", lock_value="worker:here:1:abcdef01")
    story.completed("one")


def a_task_waits_for_ever(story: Story) -> None:
    story.task("one")


def a_worker_dies_by_itself(story: Story) -> None:
    story.evidence.deaths.append(Death("worker-0", 1, story.now, 60.0, 1, wanted=False))


def a_worker_gives_up_when_postgres_is_away(story: Story) -> None:
    story.evidence.deaths.append(Death("worker-0", 1, story.now, 60.0, 3, wanted=False))


def the_service_does_not_come_back(story: Story) -> None:
    story.evidence.healed_at = story.now
    story.evidence.ready_after = None


def a_space_sees_another(story: Story) -> None:
    """A caller is told of a task of another space."""
    story.evidence.strangers.across.append("GET /api/tasks told south of north")


def a_revoked_key_is_answered(story: Story) -> None:
    """A key works on after its end."""
    story.evidence.strangers.revived.append("200 1.20 s after its revocation")


def a_guest_does_something(story: Story) -> None:
    """A key that may only read is let do something."""
    story.evidence.strangers.beyond.append("POST /api/tasks let a guest of north in: 201")


VIOLATIONS: list[tuple[str, Tale]] = [
    ("I1", a_final_task_is_changed),
    ("I1", a_running_task_is_claimed_again),
    ("I3", a_task_completes_twice),
    ("I2", two_occupy_a_document),
    ("I2", a_task_is_freed_while_its_handler_runs),
    ("I4", a_stale_attempt_writes_the_result),
    ("I3", a_result_is_anothers),
    ("I3", a_task_completes_without_running),
    ("I4", a_lease_is_cut_short),
    ("I6", a_lane_is_overtaken),
    ("I6", a_retry_is_overtaken),
    ("I7", a_batch_ends_before_its_children),
    ("I7", a_batch_never_hears_of_its_children),
    ("I7", a_child_has_its_turn_too_early),
    ("I7", a_child_runs_after_its_batch_was_cancelled),
    ("I7", a_child_is_given_a_wrong_result),
    ("I10", a_lock_is_left_behind),
    ("I10", hints_are_left_behind),
    ("I10", a_session_sits_in_a_transaction),
    ("I11", poison_goes_on),
    ("I11", an_innocent_is_called_poison),
    ("I12", a_hand_back_is_charged),
    ("I12", a_failure_is_not_charged),
    ("I12", a_task_gives_up_too_early),
    ("I12", a_task_gives_up_without_a_letter),
    ("I12", a_failure_leaves_no_record),
    ("I13", an_acknowledged_task_is_lost),
    ("I13", a_key_makes_two_tasks),
    ("I13", a_batch_is_stored_in_part),
    ("I13", nobody_asked_for_it),
    ("I15", a_retry_comes_too_early),
    ("I15", a_second_retry_comes_too_early),
    ("I15", a_task_runs_before_its_time),
    ("I1", a_cancellation_is_forgotten),
    ("I16", a_retry_is_forgotten),
    ("I1", a_task_reopens_by_itself),
    ("I16", a_counter_lies),
    ("I16", a_follower_misses_an_event),
    ("I16", a_follower_hears_nothing),
    ("I16", events_are_told_in_the_wrong_order),
    ("I16", an_answer_shows_what_never_was),
    ("L2", an_api_answers_500),
    ("I18", somebody_works_without_a_lock),
    ("I18", a_lock_has_no_nonce),
    ("I40", a_space_sees_another),
    ("I41", a_revoked_key_is_answered),
    ("I42", a_guest_does_something),
    ("L1", a_task_waits_for_ever),
    ("L2", a_worker_dies_by_itself),
    ("L2", a_worker_gives_up_when_postgres_is_away),
    ("L2", the_service_does_not_come_back),
]


@pytest.mark.parametrize("tale", [a_busy_day, a_zombie_is_fenced])
def test_nothing_is_found_where_nothing_is_wrong(tale: Tale) -> None:
    story = Story()

    tale(story)

    assert check(story.evidence) == []


@pytest.mark.parametrize(("invariant", "tale"), VIOLATIONS, ids=[tale.__name__ for _, tale in VIOLATIONS])
def test_it_is_found_that(invariant: str, tale: Tale) -> None:
    story = Story()

    tale(story)

    assert invariant in {violation.invariant for violation in check(story.evidence)}


def test_a_day_of_thousands_of_tasks_is_checked_within_seconds() -> None:
    story = Story()
    for number in range(5_000):
        story.task(f"{number}", f"doc-{number % 7}")
        story.done(f"{number}")
    began = time.monotonic()

    assert check(story.evidence) == []

    assert time.monotonic() - began < 20


def _crash(story: Story, name: str, attempt: int) -> FailureRow:
    return FailureRow(name, attempt, None, "crash", "its worker stopped answering before the attempt ended", story.now)
