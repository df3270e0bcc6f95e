"""Results: what a handler returned, as the ledger can store it."""

from collections.abc import Sequence
from typing import NamedTuple, cast

from officeplane.domain.encoding import json_of
from officeplane.domain.failure import Failure, FailureKind, describe
from officeplane.domain.outcome import RESULT_BYTES_MAX, Failed, Succeeded


class EditsWanted(NamedTuple):
    """What a handler wants done to its document: edits by task type and payload, as one revision."""

    edits: tuple[tuple[str, str], ...]


def outcome_of(result: object) -> Succeeded | EditsWanted | Failed:
    """Return the outcome of a handler that returned: its result as JSON, its edits, or why that cannot be."""
    match result:
        case None:
            return Succeeded(None)
        case dict():
            try:
                text = json_of(cast("object", result))
            except (TypeError, ValueError) as error:
                return _invalid(f"its result is not JSON: {describe(error)}")
            if len(text) > RESULT_BYTES_MAX:
                return _invalid(f"its result has {len(text)} bytes; {RESULT_BYTES_MAX} are allowed")
            return Succeeded(text)
        case list():
            return _wanted(cast("list[object]", result)) if result else Succeeded(None)
        case _:
            return _invalid(f"it returned {type(result).__name__}; a dict, a list of edits or None is wanted")


def _wanted(edits: Sequence[object]) -> EditsWanted | Failed:
    from officeplane.edits.contract import Edit  # noqa: PLC0415 - whoever made one has loaded it

    wanted: list[tuple[str, str]] = []
    for edit in edits:
        if not isinstance(edit, Edit):
            return _invalid(f"it returned a list with {type(edit).__name__} in it; edits are wanted")
        # As it was asked for: that a field is null may mean something else than that it is left out.
        wanted.append((edit.task_type, edit.model_dump_json(exclude_unset=True)))
    return EditsWanted(tuple(wanted))


def _invalid(message: str) -> Failed:
    return Failed(Failure(FailureKind.INVALID_OUTPUT, message))
