"""Quotas: what is usual, and how a bucket fills."""

import pytest

from officeplane.domain.quota import UNLIMITED, Bucket, Quotas, usual
from officeplane.domain.space import DEFAULT, Space


def test_the_default_space_has_no_limits_unless_set() -> None:
    assert usual(DEFAULT) == UNLIMITED
    assert usual(Space("acme")) == Quotas()
    assert Quotas().max_waiting_tasks == 200_000


def test_a_bucket_gives_a_minutes_worth_at_once_and_fills_again_evenly() -> None:
    bucket = Bucket(60, 0.0)

    assert bucket.take(60, 0.0) == 0
    assert bucket.take(2, 0.0) == 2
    assert bucket.take(2, 1.0) == 1
    assert bucket.take(2, 2.0) == 0
    assert bucket.take(60, 62.0) == 0
    assert bucket.take(1, 62.5) == 1


def test_what_is_more_than_fits_is_paid_for_afterwards() -> None:
    bucket = Bucket(60, 0.0)

    assert bucket.take(120, 0.0) == 0
    assert bucket.take(1, 60.0) == 1
    assert bucket.take(1, 61.0) == 0


@pytest.mark.parametrize("now", [0.0, 1e6])
def test_a_bucket_of_none_gives_none(now: float) -> None:
    assert Bucket(0, 0.0).take(1, now) == 60
