"""A refusal of the API, in the words it came with, as lines for a terminal."""

import json

from pydantic import BaseModel, Field, ValidationError

from officeplane.cli.answers import Revision
from officeplane.cli.texts import one_line


class FieldError(BaseModel):
    """What is wrong with one field of a request."""

    field: str
    message: str


class Conflict(BaseModel):
    """A node that an upload cannot be merged because of."""

    node_id: str = Field(alias="nodeId")
    detail: str


class Problem(BaseModel):
    """A problem document (RFC 9457) as far as people want to read it."""

    title: str
    detail: str = ""
    code: str = ""
    scope: str = ""
    """Which one the caller has not, if that is why."""
    errors: tuple[FieldError, ...] = ()
    revisions: tuple[Revision, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


def problem_of(content: bytes) -> Problem | None:
    """Return the problem that an answer is; None when it is none."""
    try:
        return Problem.model_validate_json(content)
    except ValidationError:
        return None


def problem_json(content: bytes) -> str | None:
    """Return a problem as it came, in one line; None when it is none."""
    return None if problem_of(content) is None else json.dumps(json.loads(content), ensure_ascii=False)


def problem_lines(status: int, reason: str, content: bytes) -> list[str]:
    """`title: detail (code)`, and a line for each field if there are several; else the bare status."""
    problem = problem_of(content)
    if problem is None:
        return [f"The API answered {status} {reason}".rstrip()]
    code = problem.code or str(status)
    fields = [f"{error.field}: {error.message}" for error in problem.errors if error.field]
    detail = problem.detail
    if len(problem.errors) == len(fields) == 1 and fields[0].endswith(detail):
        # One thing is wrong, and the whole of it: the place belongs to the sentence.
        detail, fields = fields[0], []
    said = f"{problem.title}: {detail}" if detail else problem.title
    made = [made_by(revision) for revision in problem.revisions]
    conflicts = [one_line(f"{one.node_id}: {one.detail}", 200) for one in problem.conflicts]
    return [f"{said} ({code})", *(f"  {line}" for line in (*fields, *conflicts, *made))]


def made_by(revision: Revision) -> str:
    """Say who made a revision, and how."""
    which = "" if revision.task_id is None else f", task {revision.task_id}"
    return one_line(f"revision {revision.revision} by {revision.author or 'nobody named'}: {revision.what}{which}", 200)
