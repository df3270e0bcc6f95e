import inspect

import pytest

from officeplane.domain import errors
from officeplane.domain.errors import (
    DagEndedError,
    FieldError,
    InvalidPayloadError,
    InvalidRequestError,
    LetterResolvedError,
    OfficePlaneError,
    OutsideError,
)

REFUSALS = [
    value
    for value in vars(errors).values()
    if inspect.isclass(value)
    and issubclass(value, OfficePlaneError)
    # Some are a kind of another, and HTTP knows several by one name.
    and "code" in vars(value)
    and value not in {OfficePlaneError, LetterResolvedError, DagEndedError, OutsideError}
]


@pytest.mark.parametrize("refusal", REFUSALS)
def test_every_refusal_has_a_name_of_its_own(refusal: type[OfficePlaneError]) -> None:
    assert refusal.code != OfficePlaneError.code
    assert [other for other in REFUSALS if other.code == refusal.code] == [refusal]


def test_a_refusal_inside_a_larger_body_says_where() -> None:
    inner = InvalidPayloadError("seconds: too many.", [FieldError("payload.seconds", "too many")])

    outer = inner.within("children.2")

    assert isinstance(outer, InvalidPayloadError)
    assert outer.detail == "children.2: seconds: too many."
    assert outer.errors == (FieldError("children.2.payload.seconds", "too many"),)


def test_a_refusal_without_fields_points_to_the_place_it_was_in() -> None:
    outer = InvalidRequestError("A task needs a taskType.").within("3")

    assert outer.errors == (FieldError("3", "A task needs a taskType."),)


def test_a_refusal_of_the_whole_body_stays_as_it_is() -> None:
    refusal = InvalidRequestError("It is wrong.")

    assert refusal.within("") is refusal
