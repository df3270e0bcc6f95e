"""A refusal of the API, in the words it came with, as lines for a terminal."""

import json

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from officeplane.cli.texts import one_line


class FieldError(BaseModel):
    """What is wrong with one field of a request."""

    field: str
    message: str


class Made(BaseModel):
    """Who made a revision, and how."""

    model_config = ConfigDict(alias_generator=to_camel)

    revision: int
    author: str | None = None
    task_type: str | None = None
    task_id: str | None = None

    @property
    def line(self) -> str:
        """The same for people."""
        how = self.task_type or "upload"
        which = "" if self.task_id is None else f", task {self.task_id}"
        return one_line(f"revision {self.revision} by {self.author or 'nobody named'}: {how}{which}", 200)


class Problem(BaseModel):
    """A problem document (RFC 9457) as far as people want to read it."""

    title: str
    detail: str = ""
    code: str = ""
    errors: tuple[FieldError, ...] = ()
    revisions: tuple[Made, ...] = ()


def problem_json(content: bytes) -> str | None:
    """Return a problem as it came, in one line; None when it is none."""
    try:
        Problem.model_validate_json(content)
    except ValidationError:
        return None
    return json.dumps(json.loads(content), ensure_ascii=False)


def problem_lines(status: int, reason: str, content: bytes) -> list[str]:
    """`title: detail (code)`, and a line for each field if there are several; else the bare status."""
    try:
        problem = Problem.model_validate_json(content)
    except ValidationError:
        return [f"The API answered {status} {reason}".rstrip()]
    code = problem.code or str(status)
    fields = [f"{error.field}: {error.message}" for error in problem.errors if error.field]
    detail = problem.detail
    if len(problem.errors) == len(fields) == 1 and fields[0].endswith(detail):
        # One thing is wrong, and the whole of it: the place belongs to the sentence.
        detail, fields = fields[0], []
    said = f"{problem.title}: {detail}" if detail else problem.title
    made = [one.line for one in problem.revisions]
    return [f"{said} ({code})", *(f"  {line}" for line in (*fields, *made))]
