"""Validation errors: what a value is not, told in the words and the paths of the JSON that came."""

from typing import Annotated

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from officeplane.domain.validation_errors import dotted, field_errors, message_of, relevant

Text = Annotated[str, AfterValidator(str.strip), Field(min_length=2)]


class Formula(BaseModel):
    """One of the kinds of value."""

    model_config = ConfigDict(strict=True, extra="forbid")

    formula: Text


class Sheet(BaseModel):
    """Cells by name."""

    model_config = ConfigDict(strict=True, extra="forbid")

    cells: dict[Annotated[str, Field(pattern="^[A-Z]$")], Text | int | Formula]


def wrong_with(value: JsonValue) -> dict[str, str]:
    with pytest.raises(ValidationError) as refused:
        Sheet.model_validate(value)
    found = relevant(value, refused.value.errors())
    return {
        error.field: error.message for error in field_errors((dotted(path), message_of(one)) for path, one in found)
    }


def test_a_value_that_is_nothing_of_a_union_is_told_all_that_it_may_be() -> None:
    assert wrong_with({"cells": {"A": [1]}}) == {
        "cells.A": "Input should be a valid string; or: Input should be a valid integer; or: It must be an object."
    }


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({"formula": 1}, {"cells.A.formula": "Input should be a valid string"}),
        ({"formula": "1"}, {"cells.A.formula": "String should have at least 2 characters"}),
        ({"formula": "11", "x": 1}, {"cells.A.x": "There is no such field."}),
        ({}, {"cells.A.formula": "This field is required."}),
    ],
)
def test_a_value_that_is_nearly_one_of_a_union_is_told_what_it_lacks_of_that(
    value: JsonValue, wrong: dict[str, str]
) -> None:
    assert wrong_with({"cells": {"A": value}}) == wrong


def test_a_wrong_name_is_told_beside_what_is_wrong_below_it() -> None:
    assert wrong_with({"cells": {"a": {"formula": 1}}}) == {
        "cells.a": "String should match pattern '^[A-Z]$'",
        "cells.a.formula": "Input should be a valid string",
    }
