import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.failure import HOPELESS, UNCHARGED, Failure, FailureKind
from officeplane.domain.lifecycle import CLAIMABLE, FINAL, TaskState
from officeplane.domain.outcome import Failed, HandedBack, Lapsed, Outcome, RetryRules, Succeeded, judge, unstorable
from officeplane.domain.retry import RetryPolicy
from officeplane.domain.task import ClaimedTask
from tests.attempts import a_claimed_task

RULES = RetryRules(RetryPolicy(), poison_crashes=2)
OUTCOMES: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(Succeeded, st.none() | st.just("{}")),
    st.builds(Failed, st.builds(Failure, st.sampled_from(FailureKind), st.text()), st.booleans()),
    st.builds(HandedBack),
    st.builds(Lapsed, st.booleans(), st.booleans()),
)


def an_attempt(
    *, charged: int = 0, crashes: int = 0, suspect: bool = False, max_retries: int = 3, retry: RetryPolicy | None = None
) -> ClaimedTask:
    return a_claimed_task()._replace(
        attempt=charged + 1,
        attempts_charged=charged,
        crashes=crashes,
        suspect=suspect,
        max_retries=max_retries,
        retry_json=None if retry is None else retry.model_dump_json(by_alias=True),
    )


def failed(kind: FailureKind) -> Failed:
    return Failed(Failure(kind, "it went wrong"))


def error_of(error_json: str | None) -> dict[str, str]:
    assert error_json is not None
    error: dict[str, str] = json.loads(error_json)
    return error


def test_a_success_completes_the_task_with_its_result() -> None:
    verdict = judge(an_attempt(), Succeeded('{"answer": 42}'), RULES, 0.0)

    assert (verdict.state, verdict.result_json, verdict.error_json) == (TaskState.COMPLETED, '{"answer": 42}', None)
    assert not verdict.charged


def test_what_is_handed_back_is_queued_again_for_free() -> None:
    verdict = judge(an_attempt(), HandedBack(), RULES, 0.0)

    assert (verdict.state, verdict.charged, verdict.error_json) == (TaskState.QUEUED, False, None)


@pytest.mark.parametrize("kind", FailureKind)
def test_a_failure_with_retries_left_is_tried_again_unless_it_is_hopeless(kind: FailureKind) -> None:
    verdict = judge(an_attempt(), failed(kind), RULES, 0.0)

    assert verdict.state is (TaskState.FAILED if kind in HOPELESS else TaskState.RETRYING)
    assert verdict.charged is (kind not in UNCHARGED)
    assert error_of(verdict.error_json) == {"kind": kind, "message": "it went wrong"}


@pytest.mark.parametrize("kind", FailureKind)
def test_with_no_retry_left_only_what_was_not_charged_is_tried_again(kind: FailureKind) -> None:
    verdict = judge(an_attempt(charged=3), failed(kind), RULES, 0.0)

    match kind:
        case FailureKind.TIMEOUT:
            assert verdict.state is TaskState.TIMEOUT
        case FailureKind.INFRASTRUCTURE | FailureKind.RATE_LIMITED:
            assert verdict.state is TaskState.RETRYING
        case _:
            assert verdict.state is TaskState.FAILED


@pytest.mark.parametrize("left", [True, False])
def test_only_the_last_timeout_ends_the_task_as_timed_out(*, left: bool) -> None:
    verdict = judge(an_attempt(charged=0 if left else 3), failed(FailureKind.TIMEOUT), RULES, 0.0)

    assert verdict.state is (TaskState.RETRYING if left else TaskState.TIMEOUT)


def test_the_nth_charged_failure_waits_for_the_nth_delay() -> None:
    waits = [judge(an_attempt(charged=n), failed(FailureKind.ERROR), RULES, 0.0).delay_seconds for n in range(3)]

    assert waits == [5, 25, 125]


def test_a_policy_of_the_task_goes_before_that_of_the_installation() -> None:
    attempt = an_attempt(retry=RetryPolicy(strategy="fixed", initial_seconds=2, no_retry_on=(FailureKind.TIMEOUT,)))

    assert judge(attempt, failed(FailureKind.ERROR), RULES, 0.0).delay_seconds == 2
    assert judge(attempt, failed(FailureKind.TIMEOUT), RULES, 0.0).state is TaskState.TIMEOUT


@pytest.mark.parametrize("started", [True, False])
def test_a_lapse_is_charged_only_if_the_handler_had_started(*, started: bool) -> None:
    verdict = judge(an_attempt(), Lapsed(handler_started=started, is_guilty=False), RULES, 0.0)

    assert (verdict.state, verdict.charged, verdict.crashed) == (TaskState.RETRYING, started, False)
    assert error_of(verdict.error_json)["kind"] == FailureKind.CRASH


def test_the_first_retry_after_a_lapse_is_due_at_once() -> None:
    assert judge(an_attempt(), Lapsed(handler_started=True, is_guilty=True), RULES, 0.9).delay_seconds == 0


def test_the_retry_after_a_second_lapse_follows_the_policy_also_when_nobody_was_found_guilty() -> None:
    attempt = an_attempt(charged=1, suspect=True)

    assert judge(attempt, Lapsed(handler_started=True, is_guilty=False), RULES, 0.0).delay_seconds == 25


def test_a_lapse_before_the_handler_started_never_uses_up_the_retries() -> None:
    verdict = judge(an_attempt(max_retries=0), Lapsed(handler_started=False, is_guilty=False), RULES, 0.0)

    assert verdict.state is TaskState.RETRYING


@pytest.mark.parametrize("outcome", [
    Failed(Failure(FailureKind.CRASH, "its process died"), killed_its_child=True),
    Lapsed(handler_started=True, is_guilty=True),
])  # fmt: skip
def test_a_second_death_is_a_poison_pill_whatever_is_left_of_the_retries(outcome: Outcome) -> None:
    first = judge(an_attempt(max_retries=20), outcome, RULES, 0.0)
    second = judge(an_attempt(max_retries=20, charged=1, crashes=1), outcome, RULES, 0.0)

    assert (first.state, first.crashed, first.poisoned) == (TaskState.RETRYING, True, False)
    assert (second.state, second.crashed, second.poisoned) == (TaskState.FAILED, True, True)
    assert "poison pill" in error_of(second.error_json)["message"]


def test_a_second_death_is_a_poison_pill_even_when_it_came_with_a_timeout() -> None:
    outcome = Failed(Failure(FailureKind.TIMEOUT, "it took too long"), killed_its_child=True)

    verdict = judge(an_attempt(charged=1, crashes=1), outcome, RULES, 0.0)

    assert (verdict.state, verdict.poisoned) == (TaskState.FAILED, True)


def test_a_death_that_the_task_is_not_guilty_of_poisons_nobody() -> None:
    verdict = judge(an_attempt(crashes=1), Lapsed(handler_started=True, is_guilty=False), RULES, 0.0)

    assert (verdict.state, verdict.crashed, verdict.poisoned) == (TaskState.RETRYING, False, False)


def test_a_failure_after_one_death_is_no_poison() -> None:
    verdict = judge(an_attempt(charged=1, crashes=1), failed(FailureKind.ERROR), RULES, 0.0)

    assert (verdict.state, verdict.poisoned) == (TaskState.RETRYING, False)


def test_a_result_that_cannot_be_stored_fails_the_task_for_good() -> None:
    verdict = unstorable(an_attempt(), RULES)

    assert (verdict.state, verdict.charged) == (TaskState.FAILED, True)
    assert error_of(verdict.error_json) == {
        "kind": FailureKind.INVALID_OUTPUT,
        "message": "its result could not be stored",
    }


@given(
    outcome=OUTCOMES,
    charged=st.integers(0, 21),
    crashes=st.integers(0, 3),
    max_retries=st.integers(0, 20),
    chance=st.floats(0, 1, exclude_max=True),
)
def test_every_verdict_is_one_that_the_ledger_takes(
    outcome: Outcome, charged: int, crashes: int, max_retries: int, chance: float
) -> None:
    attempt = an_attempt(charged=charged, crashes=crashes, max_retries=max_retries)

    verdict = judge(attempt, outcome, RULES, chance)

    assert (verdict.task_id, verdict.claim_id) == (attempt.id, attempt.claim_id)
    assert verdict.state in FINAL or verdict.state in CLAIMABLE
    assert verdict.state is not TaskState.CANCELLED
    assert (verdict.error_json is not None) == isinstance(outcome, Failed | Lapsed)
    assert verdict.result_json is None or verdict.state is TaskState.COMPLETED
    assert verdict.delay_seconds == 0 or verdict.state is TaskState.RETRYING
    assert not verdict.poisoned or verdict.state is TaskState.FAILED
    assert verdict.state is not TaskState.RETRYING or charged + verdict.charged <= max_retries


def test_every_failure_is_told_apart_and_only_the_last_one_alerts() -> None:
    rules = RetryRules(RetryPolicy(), poison_crashes=2, alerts=True)

    first, last = (judge(an_attempt(charged=n, max_retries=1), failed(FailureKind.ERROR), rules, 0) for n in (0, 1))

    assert first.fingerprint == last.fingerprint is not None
    assert (first.alerts, last.alerts, unstorable(an_attempt(), rules).alerts) == (None, True, True)
    assert judge(an_attempt(), Succeeded(None), rules, 0).fingerprint is None


def test_a_poison_pill_has_the_fingerprint_of_what_it_did_each_time() -> None:
    crash = Failed(Failure(FailureKind.CRASH, "exit status 9"), killed_its_child=True)

    once, twice = (judge(an_attempt(crashes=crashes), crash, RULES, 0) for crashes in (0, 1))

    assert (once.poisoned, twice.poisoned) == (False, True)
    assert once.fingerprint == twice.fingerprint
