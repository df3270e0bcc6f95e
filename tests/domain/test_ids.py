import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.ids import DOCUMENT_ID_PATTERN, parse_task_id


@given(st.uuids())
def test_any_spelling_of_an_id_becomes_its_one_spelling(identity: object) -> None:
    assert parse_task_id(str(identity)) == parse_task_id(str(identity).upper()) == str(identity)


@pytest.mark.parametrize("text", [
    "", "x", "0192f0000000700080000000000000001", "0192f000-0000-7000-8000-00000000000",
    "{0192f000-0000-7000-8000-000000000001}", "urn:uuid:0192f000-0000-7000-8000-000000000001",
    "0192f000-0000-7000-8000-000000000001\n", " 0192f000-0000-7000-8000-000000000001",
    "0192g000-0000-7000-8000-000000000001", "٠192f000-0000-7000-8000-000000000001",
    "0192f000-0000-7000-8000-00000000000\N{FULLWIDTH DIGIT ONE}", "a" * 100_000,
])  # fmt: skip
def test_what_is_no_id_is_none(text: str) -> None:
    assert parse_task_id(text) is None


@given(st.text())
def test_reading_an_id_never_fails_and_knows_its_own_answer(text: str) -> None:
    parsed = parse_task_id(text)

    assert parsed is None or parse_task_id(parsed) == parsed


@pytest.mark.parametrize("text", ["a", "9", "Report-2030_v1.2:final", "x" * 128])
def test_a_document_id_may_be(text: str) -> None:
    assert re.fullmatch(DOCUMENT_ID_PATTERN, text)


@pytest.mark.parametrize("text", ["", "-a", ".a", "_a", "a/b", "a b", "ä", "a\x00", "x" * 129])
def test_a_document_id_may_not_be(text: str) -> None:
    assert not re.fullmatch(DOCUMENT_ID_PATTERN, text)
