"""Results: what a handler returned, as the ledger can store it."""

import json
from typing import Final

from officeplane.domain.failure import Failure, FailureKind, describe
from officeplane.domain.outcome import Failed, Succeeded

RESULT_BYTES_MAX: Final = 1024 * 1024


def outcome_of(result: object) -> Succeeded | Failed:
    """Return the outcome of a handler that returned: its result as JSON, or why that cannot be."""
    match result:
        case None:
            return Succeeded(None)
        case dict():
            try:
                text = json.dumps(result, allow_nan=False, separators=(",", ":"))
            except (TypeError, ValueError, RecursionError) as error:
                return _invalid(f"its result is not JSON: {describe(error)}")
            if len(text) > RESULT_BYTES_MAX:
                return _invalid(f"its result has {len(text)} bytes; {RESULT_BYTES_MAX} are allowed")
            return Succeeded(text)
        case _:
            return _invalid(f"it returned {type(result).__name__}; a dict or None is wanted")


def _invalid(message: str) -> Failed:
    return Failed(Failure(FailureKind.INVALID_OUTPUT, message))
