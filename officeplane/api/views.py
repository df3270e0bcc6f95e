"""Views: what all JSON objects of answers have in common, and how they are sent.

Answers are made here rather than by FastAPI, which would check each view once more.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, PlainSerializer, WithJsonSchema
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from officeplane.domain.priority import Tier


def time_text(moment: datetime) -> str:
    """Return the time as RFC 3339 has it, in UTC, with milliseconds."""
    if moment.tzinfo is None:
        # The driver's names for infinity are the first and the last time that Python has, without a zone.
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


Time = Annotated[
    datetime, PlainSerializer(time_text, return_type=str), WithJsonSchema({"type": "string", "format": "date-time"})
]
TierName = Literal["CRITICAL", "HIGH", "NORMAL", "LOW"]
TIER_NAMES: Final[Mapping[Tier, TierName]] = {
    Tier.CRITICAL: "CRITICAL",
    Tier.HIGH: "HIGH",
    Tier.NORMAL: "NORMAL",
    Tier.LOW: "LOW",
}


class View(BaseModel):
    """A JSON object of an answer, in camelCase."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True, frozen=True)


def json_answer(view: View, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a view as JSON."""
    return Response(view.__pydantic_serializer__.to_json(view), status, headers, "application/json")


def many_views(views: Sequence[View], headers: Mapping[str, str] | None = None) -> Response:
    """Return views as a JSON array."""
    parts = b",".join(view.__pydantic_serializer__.to_json(view) for view in views)
    return Response(b"[" + parts + b"]", 200, headers, "application/json")
