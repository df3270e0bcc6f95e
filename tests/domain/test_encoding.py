import json
import math
from typing import Any

import pytest

from officeplane.domain.encoding import json_of


@pytest.mark.parametrize(
    "value", [{}, {"a": [1, 2.5, None, True]}, {"ü \ud800 \n": {"b": "\u2028"}}, {1: "one"}, [], "text"]
)
def test_a_value_is_encoded_as_the_library_does_without_spaces(value: object) -> None:
    assert json_of(value) == json.dumps(value, allow_nan=False, separators=(",", ":"))


@pytest.mark.parametrize("value", [{"a": math.nan}, {"a": math.inf}])
def test_what_is_no_number_of_json_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_of(value)


@pytest.mark.parametrize("value", [{"a": object()}, {"a": {1, 2}}, {"a": b""}, {(1,): 1}])
def test_what_json_has_no_word_for_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        json_of(value)


def test_what_contains_itself_is_refused_and_spoils_nothing_for_the_next() -> None:
    circle: dict[str, Any] = {}
    circle["me"] = circle

    for _ in range(2):
        with pytest.raises(ValueError, match="contains itself"):
            json_of(circle)
    assert json_of({"me": {}}) == '{"me":{}}'
