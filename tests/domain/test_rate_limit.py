"""What says "not so fast": by the status of an answer, by its headers, by its words."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime
from urllib.error import HTTPError

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.failure import Failure, FailureKind
from officeplane.domain.rate_limit import ASKED_SECONDS_MAX, LONGEST_SECONDS, RateLimit, rate_limit_of, wait_seconds
from officeplane.domain.retry import Retry, RetryPolicy, RetryState, next_step
from officeplane.handlers.contract import PermanentFailure, RateLimited, failure_of

NOW = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC)
IN_A_MINUTE = format_datetime(NOW + timedelta(seconds=60), usegmt=True)


def of_httpx(status: int, **headers: str) -> Exception:
    request = httpx.Request("GET", "https://api.example")
    answer = httpx.Response(status, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return httpx.HTTPStatusError(f"Client error '{status}'", request=request, response=answer)


@dataclass
class OfAiohttpError(Exception):
    """As aiohttp has it: status and headers on the error itself."""

    status: int
    headers: dict[str, str] = field(default_factory=dict[str, str])


def of_urllib(status: int, retry_after: str) -> Exception:
    headers = Message()
    headers["Retry-After"] = retry_after
    return HTTPError("https://api.example", status, "no", headers, None)


class MuteError(Exception):
    """Cannot be described."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(("error", "seconds"), [
    (of_httpx(429, Retry_After="30"), 30),
    (of_httpx(429, retry_after="1.5"), 1.5),
    (of_httpx(429, Retry_After=IN_A_MINUTE), 60),
    (of_httpx(429), None),
    (of_httpx(429, Retry_After="soon"), None),
    (of_httpx(429, Retry_After="0"), None),
    (of_httpx(429, Retry_After="99999999"), ASKED_SECONDS_MAX),
    (OfAiohttpError(429, {"retry-after": "7"}), 7),
    (of_urllib(429, "12"), 12),
    (RuntimeError("Rate limit reached for model; please try again in 20s."), 20),
    (RuntimeError("rate_limit_exceeded: try again in 250ms"), 0.25),
    (RuntimeError("rate limit; retry in 500 milliseconds"), 0.5),
    (RuntimeError("rate limit; retry in 3 min"), 180),
    (RuntimeError("Too Many Requests, retry after 2 minutes"), 120),
    (RuntimeError("TooManyRequestsException"), None),
    (RuntimeError("Quota exceeded"), None),
    (RuntimeError(f"Retry-After: {IN_A_MINUTE}"), 60),
    (RuntimeError("Error code: 429 - {'error': 'slow down'}"), None),
    (RuntimeError("the server answered 429."), None),
])  # fmt: skip
def test_an_error_that_says_not_so_fast_is_a_rate_limit(error: Exception, seconds: float | None) -> None:
    assert rate_limit_of(error, NOW) == RateLimit(seconds)


@pytest.mark.parametrize("error", [
    RuntimeError("it went wrong"),
    RuntimeError("row 4290 of 14291 is missing"),
    RuntimeError("expected 1.429 and found 429.5"),
    of_httpx(500),
    of_httpx(400, Retry_After="30"),
    OfAiohttpError(503),
    MuteError(),
    KeyError(429.0),
])  # fmt: skip
def test_any_other_error_is_none(error: Exception) -> None:
    assert rate_limit_of(error, NOW) is None


def test_an_error_raised_from_a_rate_limit_is_one() -> None:
    wrapped = RuntimeError("the summary failed")
    wrapped.__cause__ = of_httpx(429, Retry_After="30")

    assert rate_limit_of(wrapped, NOW) == RateLimit(30)


def test_a_group_with_a_rate_limit_in_it_is_one() -> None:
    several = ExceptionGroup("several", [ValueError("no"), of_httpx(429, Retry_After="30")])

    assert rate_limit_of(several, NOW) == RateLimit(30)


def test_an_error_that_was_its_own_cause_is_looked_at_once() -> None:
    looped = RuntimeError("round and round")
    looped.__cause__ = looped

    assert rate_limit_of(looped, NOW) is None


def test_a_status_that_says_something_else_goes_before_the_words() -> None:
    assert rate_limit_of(OfAiohttpError(422, {"x": "rate limit"}), NOW) is None


def test_a_handler_may_say_it_itself_with_or_without_a_time() -> None:
    assert failure_of(RateLimited(30), NOW).retry_after == 30
    assert failure_of(RateLimited(), NOW).retry_after is None
    assert failure_of(RateLimited(retry_after=-1), NOW).retry_after == 0
    assert failure_of(RateLimited(float("nan")), NOW).retry_after == ASKED_SECONDS_MAX
    assert {failure_of(RateLimited(n), NOW).kind for n in (None, 1)} == {FailureKind.RATE_LIMITED}


def test_what_is_permanent_is_permanent_whatever_it_says() -> None:
    assert failure_of(PermanentFailure("429 Too Many Requests"), NOW).kind is FailureKind.PERMANENT


def test_without_a_time_the_wait_doubles_up_to_an_hour() -> None:
    waits = [wait_seconds(None, nth, 0.0) for nth in range(1, 9)]

    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]


@given(nth=st.integers(1, 10_000), chance=st.floats(0, 1, exclude_max=True))
def test_what_nobody_asked_for_is_spread_by_a_tenth_and_bounded(nth: int, chance: float) -> None:
    plain = wait_seconds(None, nth, 0.0)

    assert plain <= wait_seconds(None, nth, chance) <= 1.1 * min(plain, LONGEST_SECONDS)


@pytest.mark.parametrize("policy", [
    RetryPolicy(retry_on=(FailureKind.TIMEOUT,)),
    RetryPolicy(strategy="immediate"),
    RetryPolicy(strategy="fixed", initial_seconds=1),
])  # fmt: skip
def test_a_policy_for_failures_does_not_make_a_failure_of_a_rate_limit(policy: RetryPolicy) -> None:
    standing = RetryState(0, 0, crashes=0, crashes_max=2, has_crashed_before=False, rate_limits=1)

    step = next_step(Failure(FailureKind.RATE_LIMITED, "429"), standing, policy, 0.0)

    assert step == Retry(120)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    found = rate_limit_of(RuntimeError(text), NOW)

    assert found is None or found.retry_after is None or 0 <= found.retry_after <= ASKED_SECONDS_MAX
