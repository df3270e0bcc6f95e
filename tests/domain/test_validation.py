"""Fit: whether JSON fits a model, told at a price that does not depend on how much is wrong."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from officeplane.domain.validation import ERRORS_MAX, TooMuchIsWrongError, errors_in, read
from officeplane.edits import AppendRows, SetCells


class Inner(BaseModel):
    """What stands in a list, and holds one."""

    model_config = ConfigDict(extra="forbid")

    numbers: list[int]


class Payload(BaseModel):
    """A payload as a handler may have it."""

    inner: list[Inner] = []
    by_name: dict[str, int] = {}
    one: Inner | None = None


def wrong_with(model: type[BaseModel], value: Any) -> list[tuple[int | str, ...]]:
    return [found["loc"] for found in errors_in(model, json.dumps(value), by_name=None)]


def test_all_that_is_wrong_with_a_small_text_is_told() -> None:
    assert wrong_with(Payload, {"inner": [{"numbers": ["a", 1, "b"]}], "x": 1}) == [
        ("inner", 0, "numbers", 0),
        ("inner", 0, "numbers", 2),
        ("x",),
    ]


WRONG: Mapping[tuple[int | str, ...], Mapping[str, Any]] = {
    ("inner", 0, "numbers", 0): {"inner": [{"numbers": ["a"] * 50_000}] * 2},
    ("inner", 1, "numbers", 50_000): {"inner": [{"numbers": []}, {"numbers": [1] * 50_000 + ["a", "b"]}]},
    ("by_name", "n0"): {"by_name": {f"n{number}": "a" for number in range(10_000)}},
}


@pytest.mark.parametrize("first", WRONG)
def test_of_a_large_text_each_collection_is_told_up_to_its_first_error(first: tuple[int | str, ...]) -> None:
    assert wrong_with(Payload, WRONG[first]) == [first]


def test_a_few_unknown_fields_of_a_large_text_are_told_wherever_they_stand() -> None:
    value: dict[str, Any] = {"inner": [{"numbers": [1] * 20_000}], "one": {"numbers": [], "x": 1}, "y": 2}

    assert wrong_with(Payload, value) == [("one", "x"), ("y",)]


@pytest.mark.parametrize("inside", [False, True])
def test_unknown_fields_beyond_number_are_not_named_one_by_one(*, inside: bool) -> None:
    many = {f"n{number}": 1 for number in range(ERRORS_MAX + 5_000)}

    with pytest.raises(TooMuchIsWrongError, match="more than 1,000 things"):
        errors_in(Payload, json.dumps({"one": {"numbers": [], **many}} if inside else many))


def test_more_errors_in_a_small_text_than_anybody_reads_are_told_as_of_a_large_one() -> None:
    assert wrong_with(Payload, {"by_name": dict.fromkeys(map(str, range(1_500)), "")}) == [("by_name", "0")]


class Awkward(BaseModel):
    """A payload whose fields are called as parts of a schema are."""

    model_config = ConfigDict(extra="forbid")

    type: str
    default: list[int] = []
    metadata: dict[str, list[int]] = {}
    inner: list["Awkward"] = []


def test_fields_may_be_called_as_parts_of_a_schema_are() -> None:
    value = {"type": "list", "default": [1] * 20_000, "inner": [{"type": "a"}]}

    assert wrong_with(Awkward, value) == []
    assert read(Awkward, json.dumps(value)) == Awkward.model_validate(value)
    assert wrong_with(Awkward, {**value, "default": ["x"] * 20_000}) == [("default", 0)]
    assert wrong_with(Awkward, {**value, "metadata": {"n": ["x"] * 20_000}}) == [("metadata", "n", 0)]


@pytest.mark.parametrize("rows", [10, 10_000])
def test_what_fits_fits_whatever_its_size(rows: int) -> None:
    assert errors_in(AppendRows, json.dumps({"sheet": "s", "rows": [["a", 1, None, {"formula": "=A1"}]] * rows})) == []
    assert errors_in(SetCells, json.dumps({"sheet": "s", "cells": {f"A{row + 1}": row for row in range(rows)}})) == []


@pytest.mark.parametrize("count", [3, 30_000])
def test_what_is_read_is_the_model_whatever_its_size(count: int) -> None:
    made = read(Payload, json.dumps({"one": {"numbers": list(range(count))}}))

    assert made == Payload(one=Inner(numbers=list(range(count))))
