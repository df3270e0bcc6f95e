"""How keys look, and what they are good for."""

import string
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.api_key import (
    ALPHABET,
    CHANCE,
    ApiKey,
    KeyState,
    digest_of,
    is_key_name,
    is_key_text,
    key_text,
)
from officeplane.domain.ids import KeyId
from officeplane.domain.principal import Scope

CHANCES = st.text(ALPHABET, min_size=CHANCE, max_size=CHANCE)
NOW = datetime(2030, 1, 1, tzinfo=UTC)
KEY = ApiKey(KeyId("id"), "bot", "opk_abcd", frozenset({Scope.READ}), "local:ann", NOW)


@given(CHANCES)
def test_what_is_made_as_a_key_looks_like_one(chance: str) -> None:
    text = key_text(chance)

    assert is_key_text(text)
    assert len(text) == 40
    assert len(digest_of(text)) == 32


@given(CHANCES, st.data())
def test_any_one_character_that_is_changed_is_noticed(chance: str, data: st.DataObject) -> None:
    text = key_text(chance)
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.one_of(st.sampled_from(string.printable), st.characters()).filter(lambda c: c != text[place]))

    assert not is_key_text(text[:place] + other + text[place + 1 :])


@given(CHANCES, st.data())
def test_two_neighbours_that_have_changed_places_are_noticed(chance: str, data: st.DataObject) -> None:
    text = key_text(chance)
    place = data.draw(st.integers(0, len(text) - 2))
    swapped = text[:place] + text[place + 1] + text[place] + text[place + 2 :]

    assert is_key_text(swapped) == (swapped == text)


@pytest.mark.parametrize("text", ["", "opk_", "Bearer", "opk_" + "0" * 36, "x" * 40, "ö" * 40, "opk_" + "\0" * 36])
def test_rubbish_is_no_key(text: str) -> None:
    assert not is_key_text(text)


@given(st.text(max_size=60))
def test_hardly_any_text_is_a_key(text: str) -> None:
    assert not is_key_text(text)


@pytest.mark.parametrize("name", ["a", "bot", "ann@example.org", "ci:main", "cli.ann_2-x", "9", "bot-", "a" * 100])
def test_a_name_of_letters_digits_and_a_few_signs_is_taken(name: str) -> None:
    assert is_key_name(name)


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a/b", "-bot", ".", "a\n", "bot\x1b[2J", "bоt", "é", "a" * 101, "opk_abc"],
)
def test_a_name_that_cannot_be_typed_or_told_apart_is_not(name: str) -> None:
    assert not is_key_name(name)


@pytest.mark.parametrize(
    ("key", "state"),
    [
        (KEY, KeyState.WORKS),
        (replace(KEY, expires_at=NOW + timedelta(seconds=1)), KeyState.WORKS),
        (replace(KEY, expires_at=NOW), KeyState.EXPIRED),
        (replace(KEY, expires_at=NOW + timedelta(days=1), replaced_by=KeyId("other")), KeyState.REPLACED),
        (replace(KEY, expires_at=NOW, replaced_by=KeyId("other")), KeyState.EXPIRED),
        (replace(KEY, expires_at=NOW, revoked_at=NOW), KeyState.REVOKED),
    ],
)
def test_what_a_key_is_good_for_is_one_of_four(key: ApiKey, state: KeyState) -> None:
    assert key.state(NOW) is state
