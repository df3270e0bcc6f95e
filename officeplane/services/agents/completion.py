"""Completion: what an agent hands in is checked before it ends anything; what does not fit leaves its claim alone."""

import json
from functools import lru_cache
from typing import Final, NamedTuple

from officeplane.domain.agent_claim import InvalidResultError, KnownClaim, RefusedEditError, ReportRequiredError
from officeplane.domain.errors import ERRORS_SHOWN, FieldError, OverloadedError
from officeplane.domain.failure import FailureKind
from officeplane.domain.json_schema import JsonSchema
from officeplane.domain.outcome import RESULT_BYTES_MAX, Edited, Failed, Outcome, Succeeded
from officeplane.domain.spelling import nearest_name
from officeplane.domain.validation import TooMuchIsWrongError
from officeplane.domain.validation_errors import dotted, field_errors, message_of, relevant
from officeplane.edits.all_edits import all_edits
from officeplane.services.edits.editing import Editing

_OURS: Final = frozenset({FailureKind.ERROR, FailureKind.CRASH})
"""What fails of us rather than of what the edits say."""
SCHEMAS_KEPT: Final = 256


class Completion(NamedTuple):
    """What an agent hands in, as JSON: a result or edits, and why it did what it did."""

    result_json: str | None = None
    edits: tuple[tuple[str, str], ...] = ()
    report_json: str | None = None

    @property
    def told_json(self) -> str | None:
        """What there is to keep of it if it comes too late."""
        if not self.edits:
            return self.result_json
        edits = ",".join(f'{{"taskType":{json.dumps(kind)},"payload":{payload}}}' for kind, payload in self.edits)
        return f'{{"edits":[{edits}]}}'


class Completions:
    """Makes outcomes of what agents hand in."""

    def __init__(self, editing: Editing) -> None:
        self._editing = editing

    async def outcome(self, claim: KnownClaim, done: Completion) -> Outcome:
        """Return how an attempt ends with this; raise when it cannot, for the agent to hand in something else."""
        if claim.requires_report and done.report_json is None:
            message = "The task asks for a decision report: {summary, decisions: [{what, why}]}."
            raise ReportRequiredError(f"decisionReport: {message}", [FieldError("decisionReport", message)])
        if done.edits:
            return await self._edited(claim, done)
        _check_result(claim, done.result_json)
        return Succeeded(done.result_json)

    async def _edited(self, claim: KnownClaim, done: Completion) -> Edited:
        if claim.task.document_id is None:
            message = "The task has no document; what edits none takes a result."
            raise RefusedEditError(message)
        for name, _ in done.edits:
            if name not in all_edits():
                meant = nearest_name(name, all_edits())
                message = f"There is no edit {name!r}" + ("." if meant is None else f"; did you mean {meant!r}?")
                raise RefusedEditError(message)
        outcome = await self._editing.apply(self._editing.reader(claim.task), done.edits)
        match outcome:
            case Edited():
                return outcome
            case Failed(failure) if failure.kind in _OURS:
                raise OverloadedError(f"The edits could not be tried: {failure.message}; try again in a second.")
            case Failed(failure):
                error = RefusedEditError(f"The edits cannot be done: {failure.message}.")
                error.facts = dict(failure.facts)
                raise error
            case _:
                message = f"edits came to {outcome!r}"
                raise TypeError(message)


def _check_result(claim: KnownClaim, result_json: str | None) -> None:
    text = "null" if result_json is None else result_json
    if len(text) > RESULT_BYTES_MAX:
        raise _unfit(claim, [FieldError("result", f"It is larger than {RESULT_BYTES_MAX} bytes.")])
    if claim.result_schema_json is None:
        return
    try:
        found = _schema(claim.result_schema_json).errors_in(text)
    except TooMuchIsWrongError as error:
        raise _unfit(claim, [FieldError("result", f"{str(error).capitalize()}.")]) from None
    if found:
        told = relevant(json.loads(text), found)
        raise _unfit(claim, field_errors((dotted(("result", *path)), message_of(one)) for path, one in told))


def _unfit(claim: KnownClaim, wrong: list[FieldError]) -> InvalidResultError:
    first = f"{wrong[0].field}: {wrong[0].message.removesuffix('.')}."
    return InvalidResultError(
        f"The result does not fit task type {claim.task.task_type!r}: {first}", wrong[:ERRORS_SHOWN]
    )


@lru_cache(SCHEMAS_KEPT)
def _schema(text: str) -> JsonSchema:
    return JsonSchema(json.loads(text))
