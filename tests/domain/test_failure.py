from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from officeplane.domain.failure import HOPELESS, MESSAGE_LIMIT, UNCHARGED, Failure, FailureKind, describe, storable


def _repeated(text: str, times: int) -> str:
    return text * times


ANY_TEXT = st.text(st.characters(exclude_categories=()))
HUGE_TEXT = st.builds(_repeated, ANY_TEXT.filter(bool), st.integers(1, 30_000))


class _Mischief(str):
    """Text that is not what it says, and cannot be asked."""

    __slots__ = ()

    def __len__(self) -> int:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError

    def __format__(self, spec: str, /) -> str:
        raise RuntimeError


def _raises() -> str:
    message = "no words for it"
    raise RuntimeError(message)


def _never_ends() -> str:
    return _never_ends()


BROKEN_TEXTS: dict[str, Callable[[], object]] = {
    "it raises": _raises,
    "it never ends": _never_ends,
    "it is no text": lambda: 42,
    "it is text that misbehaves": lambda: _Mischief("boo"),
}


class _BrokenError(Exception):
    def __init__(self, text: Callable[[], object]) -> None:
        super().__init__()
        self._text = text

    def __str__(self) -> str:
        return self._text()  # type: ignore[return-value]  # pyright: ignore[reportReturnType]  # that is what is broken


def _can_be_stored(text: str) -> bool:
    return len(text) <= MESSAGE_LIMIT and "\x00" not in text and bool(text.encode("utf-8") or True)


@given(ANY_TEXT | HUGE_TEXT)
def test_whatever_the_text_it_becomes_one_that_postgres_can_keep(text: str) -> None:
    assert _can_be_stored(storable(text))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=MESSAGE_LIMIT))
def test_text_that_can_be_kept_is_kept_as_it_is(text: str) -> None:
    assert storable(text) == text


@given(ANY_TEXT | HUGE_TEXT)
def test_making_text_storable_twice_changes_nothing_more(text: str) -> None:
    assert storable(storable(text)) == storable(text)


def test_text_that_was_cut_says_so() -> None:
    assert storable("x" * (MESSAGE_LIMIT + 1)) == "x" * (MESSAGE_LIMIT - 1) + "…"


@given(st.sampled_from([ValueError, KeyError, OSError, BaseException]), ANY_TEXT | HUGE_TEXT)
def test_any_error_can_be_described(kind: type[BaseException], text: str) -> None:
    described = describe(kind(text))

    assert _can_be_stored(described)
    assert described.startswith(kind.__name__)


@pytest.mark.parametrize("broken", BROKEN_TEXTS)
def test_an_error_that_cannot_be_asked_what_it_is_is_described_all_the_same(broken: str) -> None:
    described = describe(_BrokenError(BROKEN_TEXTS[broken]))

    assert _can_be_stored(described)
    assert described.startswith("_BrokenError")


def test_an_error_without_words_is_described_by_its_name() -> None:
    assert describe(TimeoutError()) == "TimeoutError"


@pytest.mark.parametrize("kind", FailureKind)
def test_exactly_what_is_not_the_tasks_fault_is_not_charged(kind: FailureKind) -> None:
    blameless = kind in {FailureKind.RATE_LIMITED, FailureKind.CANCELLED, FailureKind.INFRASTRUCTURE}

    assert Failure(kind, "").is_charged is not blameless


def test_every_kind_that_is_set_apart_is_a_kind() -> None:
    assert set(FailureKind) >= HOPELESS | UNCHARGED
    assert {FailureKind.INVALID_EDIT, FailureKind.EDIT_CONFLICT, FailureKind.PERMANENT} <= HOPELESS


def test_the_kinds_are_the_documented_ones() -> None:
    documented = (
        "error timeout crash rate_limited invalid_output invalid_edit edit_conflict permanent cancelled "
        "budget_exceeded auth_failure infrastructure"
    )

    assert [str(kind) for kind in FailureKind] == documented.split()


def test_no_failure_says_more_than_can_be_kept_whoever_put_it_in_words() -> None:
    message = Failure(FailureKind.INVALID_EDIT, f"there is no \x00{'x' * MESSAGE_LIMIT}").message

    assert _can_be_stored(message)
    assert message.startswith("there is no \N{REPLACEMENT CHARACTER}xxx")
