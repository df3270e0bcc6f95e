import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from officeplane.domain.failure import HOPELESS, Failure, FailureKind
from officeplane.domain.retry import DEFAULT_JITTER, GiveUp, Retry, RetryPolicy, RetryState, next_step

CHANCES = st.floats(0, 1, exclude_max=True)
RETRIES = st.integers(1, 1_000_000)
POLICIES = st.builds(
    RetryPolicy,
    strategy=st.sampled_from(["exponential", "fixed", "immediate"]),
    initial_seconds=st.floats(0, 86_400),
    multiplier=st.floats(1, 100),
    max_seconds=st.floats(0, 604_800),
    jitter=st.booleans() | st.floats(0, 1),
)
HOPEFUL = sorted(set(FailureKind) - HOPELESS)


def a_failure(kind: FailureKind = FailureKind.ERROR) -> Failure:
    return Failure(kind, "it went wrong")


def a_standing(*, charged: int = 1, retries_max: int = 3, crashes: int = 0, crashes_max: int = 2) -> RetryState:
    return RetryState(charged, retries_max, crashes, crashes_max, has_crashed_before=crashes > 1)


def test_the_default_waits_are_5_25_and_125_seconds() -> None:
    policy = RetryPolicy()

    assert [policy.delay_seconds(retry, 0.0) for retry in (1, 2, 3)] == [5, 25, 125]


def test_no_wait_is_longer_than_an_hour_by_default() -> None:
    assert [RetryPolicy().delay_seconds(retry, 0.0) for retry in (5, 6, 100)] == [3125, 3600, 3600]


@given(policy=POLICIES, retry=RETRIES)
def test_the_first_chance_gives_the_wait_without_jitter(policy: RetryPolicy, retry: int) -> None:
    bare = policy.model_copy(update={"jitter": False})

    assert policy.delay_seconds(retry, 0.0) == bare.delay_seconds(retry, 0.999)


@given(policy=POLICIES, retry=RETRIES, chance=CHANCES)
def test_jitter_only_makes_a_wait_longer_and_at_most_by_its_share(
    policy: RetryPolicy, retry: int, chance: float
) -> None:
    share = DEFAULT_JITTER if policy.jitter is True else float(policy.jitter)
    least = policy.delay_seconds(retry, 0.0)

    assert least <= policy.delay_seconds(retry, chance) <= least * (1 + share)


@given(policy=POLICIES, retry=RETRIES)
def test_no_wait_is_longer_than_the_policy_allows_and_none_is_shorter_than_the_one_before(
    policy: RetryPolicy, retry: int
) -> None:
    assert 0 <= policy.delay_seconds(retry, 0.0) <= policy.delay_seconds(retry + 1, 0.0) <= policy.max_seconds


def test_a_fixed_policy_waits_the_same_every_time() -> None:
    policy = RetryPolicy(strategy="fixed", initial_seconds=7)

    assert [policy.delay_seconds(retry, 0.0) for retry in (1, 2, 30)] == [7, 7, 7]


def test_an_immediate_policy_does_not_wait() -> None:
    assert RetryPolicy(strategy="immediate").delay_seconds(3, 0.9) == 0


@pytest.mark.parametrize(("initial", "multiplier", "waits"), [(60, 2, [60, 120, 240]), (10, 2, [10, 20, 40])])
def test_other_back_offs_are_computed_from_the_base_each_time(
    initial: float, multiplier: float, waits: list[float]
) -> None:
    policy = RetryPolicy(initial_seconds=initial, multiplier=multiplier)

    assert [policy.delay_seconds(retry, 0.0) for retry in (1, 2, 3)] == waits


@pytest.mark.parametrize("kind", sorted(HOPELESS))
def test_what_cannot_work_is_not_tried_again_whatever_the_policy_says(kind: FailureKind) -> None:
    assert not RetryPolicy(retry_on=(kind,)).allows(kind)


@pytest.mark.parametrize("kind", HOPEFUL)
def test_retry_on_names_the_only_failures_that_are_tried_again(kind: FailureKind) -> None:
    policy = RetryPolicy(retry_on=(FailureKind.TIMEOUT,))

    assert policy.allows(kind) is (kind in {FailureKind.TIMEOUT, FailureKind.RATE_LIMITED})


@pytest.mark.parametrize("kind", HOPEFUL)
def test_no_retry_on_takes_failures_out(kind: FailureKind) -> None:
    policy = RetryPolicy(no_retry_on=(FailureKind.TIMEOUT,))

    assert policy.allows(kind) is (kind is not FailureKind.TIMEOUT)


def test_no_retry_on_wins_over_retry_on() -> None:
    assert not RetryPolicy(retry_on=(FailureKind.ERROR,), no_retry_on=(FailureKind.ERROR,)).allows(FailureKind.ERROR)


def test_three_retries_are_four_charged_attempts() -> None:
    steps = [next_step(a_failure(), a_standing(charged=charged), RetryPolicy(), 0.0) for charged in (1, 2, 3, 4)]

    assert steps == [Retry(5), Retry(25), Retry(125), GiveUp()]


def test_without_retries_the_first_failure_is_the_last() -> None:
    assert next_step(a_failure(), a_standing(retries_max=0), RetryPolicy(), 0.0) == GiveUp()


def test_a_failure_that_is_not_charged_waits_as_if_it_were_the_first() -> None:
    assert next_step(a_failure(FailureKind.INFRASTRUCTURE), a_standing(charged=0), RetryPolicy(), 0.0) == Retry(5)


def test_the_first_crash_is_tried_again_at_once() -> None:
    standing = a_standing(charged=1, crashes=1, crashes_max=5)

    assert next_step(a_failure(FailureKind.CRASH), standing, RetryPolicy(), 0.5) == Retry(0)


def test_a_later_crash_waits_like_any_failure() -> None:
    standing = a_standing(charged=2, crashes=2, crashes_max=5)

    assert next_step(a_failure(FailureKind.CRASH), standing, RetryPolicy(), 0.0) == Retry(25)


def test_a_task_that_took_its_process_down_twice_is_given_up_with_retries_left() -> None:
    standing = a_standing(charged=1, crashes=2)

    assert next_step(a_failure(FailureKind.CRASH), standing, RetryPolicy(), 0.0) == GiveUp()


@given(
    kind=st.sampled_from(FailureKind),
    charged=st.integers(0, 25),
    retries_max=st.integers(0, 20),
    crashes=st.integers(0, 5),
    policy=POLICIES,
    chance=CHANCES,
)
def test_a_retry_is_only_ever_given_while_retries_are_left_and_never_in_the_past(
    kind: FailureKind, charged: int, retries_max: int, crashes: int, policy: RetryPolicy, chance: float
) -> None:
    standing = RetryState(charged, retries_max, crashes, crashes_max=2, has_crashed_before=crashes > 1)

    match next_step(Failure(kind, ""), standing, policy, chance):
        case Retry(after_seconds):
            assert after_seconds >= 0
            assert charged <= retries_max
            assert not standing.is_poisoned
            assert policy.allows(kind)
        case GiveUp():
            assert charged > retries_max or standing.is_poisoned or not policy.allows(kind)


@given(POLICIES)
def test_a_policy_comes_back_from_the_ledger_as_it_went_in(policy: RetryPolicy) -> None:
    assert RetryPolicy.model_validate_json(policy.model_dump_json(by_alias=True)) == policy


@pytest.mark.parametrize("field", [
    {"strategy": "linear"}, {"initialSeconds": -1}, {"initialSeconds": "5"}, {"initialSeconds": float("nan")},
    {"multiplier": 0.5}, {"multiplier": 101}, {"multiplier": float("inf")}, {"maxSeconds": -1}, {"maxSeconds": 1e9},
    {"jitter": 1.5}, {"jitter": -0.1}, {"jitter": "yes"}, {"jitter": float("nan")}, {"retryOn": ["nope"]},
    {"retryOn": "error"}, {"noRetryOn": [1]}, {"unheardOf": 1},
], ids=str)  # fmt: skip
def test_a_policy_is_read_strictly(field: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        RetryPolicy.model_validate(field)
    with pytest.raises(ValidationError):
        RetryPolicy.model_validate_json(json.dumps(field))
