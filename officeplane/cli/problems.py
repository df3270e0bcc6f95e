"""A refusal of the API, in the words it came with, as lines for a terminal."""

from pydantic import BaseModel, ValidationError


class FieldError(BaseModel):
    """What is wrong with one field of a request."""

    field: str
    message: str


class Problem(BaseModel):
    """A problem document (RFC 9457) as far as people want to read it."""

    title: str
    detail: str = ""
    code: str = ""
    errors: tuple[FieldError, ...] = ()


def problem_lines(status: int, reason: str, content: bytes) -> list[str]:
    """`title: detail (code)` and a line for each field; the bare status when the answer is no problem document."""
    try:
        problem = Problem.model_validate_json(content)
    except ValidationError:
        return [f"The API answered {status} {reason}".rstrip()]
    code = problem.code or str(status)
    said = f"{problem.title}: {problem.detail}" if problem.detail else problem.title
    return [f"{said} ({code})", *(f"  {error.field}: {error.message}" for error in problem.errors if error.field)]
