import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.dead_letter import fingerprint


def of(message: str, task_type: str = "noop", kind: str = "error") -> str:
    return fingerprint(task_type, kind, message)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("no answer within 300 s", "no answer within 12.5 s"),
        ("row 0192f000-0000-7000-8000-000000000001 is gone", "row 7b7e8a10-aaaa-4bcd-9f00-0123456789ab is gone"),
        ("KeyError: 'alice'", "KeyError: 'bob the builder'"),
        ('no sheet "Sales"', 'no sheet "Q3 costs"'),
        ("<Thing object at 0x7f00aa10> broke", "<Thing object at 0x55deadbe> broke"),
        ("commit deadbeef was lost", "commit 4f5a99c0 was lost"),
        ("refused by 10.0.0.1:5432 at 2030-01-31T12:00:00Z", "refused by 192.168.7.20:6432 at 2031-02-01T00:30:59Z"),
        ("Timed  out\nhere", "timed out here"),
        ("no style 'a'; it has 'b'", "no style 'a'; it has 'b', 'c' and 'd'"),
        ("there was no page-1 here", "there was no page-1, page-2 or page-3 here"),
        (
            "it loses: picture 'a' in page-1; no",
            "it loses: picture 'a' in page-1, picture 'b' in page-2 and 30 more; no",
        ),
    ],
)
def test_failures_of_one_cause_have_one_fingerprint(one: str, other: str) -> None:
    assert of(one) == of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (of("no answer"), of("no such file")),
        (of("it broke"), of("it broke", task_type="sleep")),
        (of("it broke"), of("it broke", kind="timeout")),
        (of("don't touch"), of("don't look")),
        (of("it loses a picture, a field"), of("it loses a picture")),
        (of("'a', then 'b'"), of("'a'")),
        (of("", task_type="a", kind="b"), of("", task_type="ab", kind="")),
    ],
)
def test_different_causes_have_different_fingerprints(one: str, other: str) -> None:
    assert one != other


@given(st.text())
def test_every_message_has_a_short_fingerprint_that_stays_the_same(message: str) -> None:
    assert of(message) == of(message)
    assert len(of(message)) == 16


@pytest.mark.parametrize(
    "message",
    ["a" * 8_192, "'" * 8_191, "'a " * 2_700, "1." * 4_096, "#" * 8_192, "f0-" * 2_700, "a, " * 2_700, "a b " * 2_000],
)
def test_no_message_takes_long_to_look_at(message: str) -> None:
    def once() -> float:
        began = time.process_time()
        of(message)
        return time.process_time() - began

    assert min(once() for _ in range(3)) < 0.1
