import pytest

from officeplane.domain.delivery import LONGEST_DELAY_SECONDS, Delivery


@pytest.mark.parametrize(("tries", "seconds"), [(1, 5), (2, 10), (5, 80), (8, 600), (10_000, LONGEST_DELAY_SECONDS)])
def test_a_failed_try_is_waited_for_twice_as_long_as_the_one_before_up_to_a_limit(tries: int, seconds: float) -> None:
    assert Delivery(1, {}, tries).retry_seconds == seconds
