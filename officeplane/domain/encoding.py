"""Encoding: values as JSON text, which is done for every task."""

import json
from collections.abc import Callable, Sequence
from typing import Final, cast

# One encoder for all: `json.dumps`, and `JSONEncoder.encode` as well, make a new one each time,
# which takes longer than what it is made for. It does not look for circles: they are too deep.
_pieces: Final = cast(
    "Callable[[object, int], Sequence[str]]",
    vars(json.encoder)["c_make_encoder"](
        None, json.JSONEncoder().default, json.encoder.encode_basestring_ascii, None, ":", ",",
        False,  # sort_keys
        False,  # skipkeys
        False,  # allow_nan
    ),
)  # fmt: skip


def size_of(value: object) -> int:
    """Return how many bytes a value has as JSON, as whoever sends it would write it."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def json_of(value: object) -> str:
    """Return a value as JSON; raise `TypeError` or `ValueError` when it is none."""
    try:
        return "".join(_pieces(value, 0))
    except RecursionError:
        message = "it contains itself, or is nested too deeply"
        raise ValueError(message) from None
