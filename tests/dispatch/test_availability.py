import asyncio

from structlog.testing import capture_logs

from officeplane.dispatch import Availability


def test_it_is_available_until_something_fails() -> None:
    assert Availability().available


def test_each_change_is_logged_once() -> None:
    availability = Availability()

    with capture_logs() as logs:
        for _ in range(3):
            availability.lost(OSError("gone"))
        for _ in range(3):
            availability.regained()

    assert [entry["event"] for entry in logs] == ["redis.lost", "redis.regained"]
    assert logs[0]["error"] == "gone"


async def test_waiters_are_woken_by_the_change_they_wait_for() -> None:
    availability = Availability()
    lost = asyncio.create_task(availability.wait_lost())
    await asyncio.sleep(0)
    assert not lost.done()

    availability.lost(OSError())
    await lost
    regained = asyncio.create_task(availability.wait_regained())
    await asyncio.sleep(0)
    assert not regained.done()

    availability.regained()
    await regained


def test_while_lost_one_caller_tries_after_a_pause() -> None:
    now = 100.0
    availability = Availability(clock=lambda: now)
    assert availability.may_try()

    availability.lost(OSError())
    assert not availability.may_try()

    now += 1.0
    assert [availability.may_try() for _ in range(3)] == [True, False, False]

    availability.regained()
    assert [availability.may_try() for _ in range(3)] == [True, True, True]


def test_what_was_never_configured_is_never_regained() -> None:
    availability = Availability(configured=False)

    with capture_logs() as logs:
        availability.lost(OSError())
        availability.regained()

    assert not availability.available
    assert not availability.may_try()
    assert logs == []
