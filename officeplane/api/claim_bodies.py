"""Bodies that come from those who hold claims. Amounts of money are read as they are written, never as floats."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from fastapi import Body
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from officeplane.api import examples
from officeplane.api.json_text import Spelled
from officeplane.api.parameters import WAIT_SECONDS_MAX
from officeplane.domain.encoding import json_of, size_of
from officeplane.domain.request import Text, Time
from officeplane.domain.spending import TOKENS_MAX, USD_MAX, Spending, micros_of

CHECKPOINT_BYTES_MAX: Final = 256 * 1024
PROGRESS_BYTES_MAX: Final = 16 * 1024
REPORT_BYTES_MAX: Final = 64 * 1024
BEATS_MAX: Final = 1_000
"""How many claims one beat may be for."""
EDITS_MAX: Final = 100
SPELLED_MAX: Final = 64
"""How many characters an amount of money may have."""


def _as_spelled(value: object) -> object:
    if isinstance(value, Spelled):
        if len(value.text) > SPELLED_MAX:
            raise PydanticCustomError("too_long_number", "It has more than {most} characters.", {"most": SPELLED_MAX})
        return Decimal(value.text)
    # What is no number is refused in the words for numbers.
    return Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else value


CostUsd = Annotated[
    Decimal,
    BeforeValidator(_as_spelled),
    Field(ge=0, le=USD_MAX),
    WithJsonSchema({"type": "number", "minimum": 0, "maximum": USD_MAX}),
]
Count = Annotated[int, Field(ge=0, le=TOKENS_MAX)]


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    HAS_MONEY: ClassVar[bool] = True


class Tokens(_Body):
    """Tokens used so far, in all; no token is in two of these."""

    input: Count | None = Field(default=None, description="What a model has read, without what it had in its cache.")
    cached_input: Count | None = Field(default=None, description="What it had in its cache.")
    output: Count | None = Field(default=None, description="What it has written, without what it has thought.")
    reasoning: Count | None = Field(default=None, description="What it has thought.")


class _Spending(_Body):
    cost_usd: CostUsd | None = Field(
        default=None, description="What this claim has cost so far, in all: of two totals the larger counts."
    )
    tokens: Tokens | None = Field(default=None, description="What this claim has used so far, in all.")

    @property
    def spent(self) -> Spending:
        """What is to be booked."""
        tokens = {} if self.tokens is None else self.tokens.model_dump(by_alias=True, exclude_none=True)
        return Spending(None if self.cost_usd is None else micros_of(self.cost_usd), tokens or None)


class ClaimBeat(_Spending):
    """What is told of one claim."""

    claim_id: Annotated[Text, Field(max_length=100)] = Field(description="A claim that the agent holds.")
    progress: Any = Field(default=None, description="Anything: the task shows what was told last.")


class HeartbeatRequest(_Body):
    """Which claims are to be kept alive; without any it says that the agent is there."""

    FREE_FIELDS: ClassVar[frozenset[str]] = frozenset({"claims"})

    claims: Annotated[list[ClaimBeat], Field(max_length=BEATS_MAX)] = Field(
        default_factory=list[ClaimBeat], description="What the agent goes on with; of others nothing is renewed."
    )
    wait_seconds: Annotated[float, Field(ge=0, le=WAIT_SECONDS_MAX, allow_inf_nan=False)] = Field(
        default=0, description="Answer as soon as there is something to say, or after this many seconds."
    )

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        for one in self.claims:
            _check_size("progress", one.progress, PROGRESS_BYTES_MAX)
        if len({one.claim_id for one in self.claims}) < len(self.claims):
            raise PydanticCustomError("named_twice", "A claim is named twice.")
        return self


class CheckpointRequest(_Spending):
    """What was reached, for whoever goes on."""

    FREE_FIELDS: ClassVar[frozenset[str]] = frozenset({"value"})

    value: Any = Field(description="Anything but null: the next attempt is given it.")

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        if self.value is None:
            raise PydanticCustomError("no_checkpoint", "value: null would be no checkpoint.")
        _check_size("value", self.value, CHECKPOINT_BYTES_MAX)
        return self


class WantedEdit(_Body):
    """An edit of the task's document."""

    task_type: Annotated[Text, Field(min_length=1, max_length=200)] = Field(description="The name of an edit.")
    payload: dict[str, Any] = Field(default_factory=dict, description="As a task of this type would have it.")


class Decision(_Body):
    """Something that was decided on the way."""

    what: Annotated[Text, Field(min_length=1, max_length=2_000)] = Field(description="What was decided.")
    why: Annotated[Text, Field(min_length=1, max_length=8_000)] = Field(description="For which reasons.")
    alternatives: Annotated[list[Annotated[Text, Field(max_length=2_000)]], Field(max_length=20)] | None = Field(
        default=None, description="What could have been decided instead."
    )


class DecisionReport(_Body):
    """Why an agent did what it did, for people who read it later."""

    summary: Annotated[Text, Field(min_length=1, max_length=8_000)] = Field(description="What was done, in short.")
    decisions: Annotated[list[Decision], Field(max_length=100)] = Field(description="What was decided on the way.")
    risks: Annotated[list[Annotated[Text, Field(max_length=2_000)]], Field(max_length=100)] | None = Field(
        default=None, description="What may go wrong with it."
    )
    follow_ups: Annotated[list[Annotated[Text, Field(max_length=2_000)]], Field(max_length=100)] | None = Field(
        default=None, description="What is left to do."
    )

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        _check_size("decisionReport", self.as_json, REPORT_BYTES_MAX)
        return self

    @property
    def as_json(self) -> Mapping[str, Any]:
        """What is kept of it."""
        return self.model_dump(by_alias=True, exclude_none=True)


class CompleteRequest(_Spending):
    """What a task came to: a result, or edits of its document."""

    FREE_FIELDS: ClassVar[frozenset[str]] = frozenset({"result", "edits"})

    result: Any = Field(default=None, description="Anything; if the task's type describes its results, one like that.")
    edits: Annotated[list[WantedEdit], Field(min_length=1, max_length=EDITS_MAX)] | None = Field(
        default=None, description="They make one revision of the task's document, or none; their result is the task's."
    )
    decision_report: DecisionReport | None = Field(
        default=None, description="What was decided, and why; some tasks are not completed without it."
    )

    @model_validator(mode="after")
    def _is_one_of_both(self) -> Self:
        if self.edits is not None and self.result is not None:
            raise PydanticCustomError("two_results", "Give a result or edits: what edits come to is the result.")
        return self


class FailRequest(_Spending):
    """What went wrong."""

    kind: Literal[
        "error", "rate_limited", "invalid_output", "permanent", "auth_failure", "budget_exceeded", "timeout"
    ] = Field(description="What kind of failure it was: that decides whether it is charged, and may be tried again.")
    message: Annotated[Text, Field(min_length=1, max_length=8_192)] = Field(description="What happened, for people.")
    retryable: bool = Field(default=True, description="False: another attempt would do no better.")
    retry_after_seconds: Annotated[float, Field(ge=0, le=604_800, allow_inf_nan=False)] | None = Field(
        default=None, description="After which time at the earliest the next attempt begins."
    )


class ReleaseRequest(_Spending):
    """Why the task is given back, and when it may be had again."""

    FREE_FIELDS: ClassVar[frozenset[str]] = frozenset({"checkpoint"})

    reason: Annotated[Text, Field(min_length=1, max_length=500)] = Field(
        description="`declined`: this agent is not offered the task for a minute."
    )
    not_before: Time | None = Field(default=None, description="When it may be claimed again at the earliest.")
    checkpoint: Any = Field(default=None, description="What was reached, for whoever goes on.")

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        _check_size("checkpoint", self.checkpoint, CHECKPOINT_BYTES_MAX)
        return self


def _check_size(field: str, value: object, most: int) -> None:
    # Most are small, which their JSON tells sooner than it is measured as it would be sent.
    if value is not None and len(json_of(value)) > most and size_of(value) > most:
        message = "{field}: it is larger than {most} bytes."
        raise PydanticCustomError("too_large_value", message, {"field": field, "most": most})


HeartbeatBody = Annotated[HeartbeatRequest, Body(openapi_examples=examples.HEARTBEAT)]
CheckpointBody = Annotated[CheckpointRequest, Body(openapi_examples=examples.CHECKPOINT)]
CompleteBody = Annotated[CompleteRequest, Body(openapi_examples=examples.COMPLETE)]
FailBody = Annotated[FailRequest, Body(openapi_examples=examples.FAIL)]
ReleaseBody = Annotated[ReleaseRequest, Body(openapi_examples=examples.RELEASE)]
