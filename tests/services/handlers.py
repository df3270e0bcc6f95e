"""Task types of the tests: what the built-in ones do not show."""

from pydantic import BaseModel, ConfigDict, JsonValue

from officeplane.domain.retry import RetryPolicy
from officeplane.handlers.context import Context
from officeplane.handlers.contract import NoPayload, handler


class Note(BaseModel):
    """A text, and whatever else."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str
    more: JsonValue = None


@handler("test.note", payload=Note)
async def note(payload: Note, _context: Context) -> dict[str, object]:
    """Give the note back."""
    return payload.model_dump()


@handler("test.patient", max_retries=7, timeout_seconds=12, retry=RetryPolicy(strategy="fixed", initial_seconds=9))
async def patient(_payload: NoPayload, _context: Context) -> None:
    """Has retries, a timeout and a policy of its own."""
