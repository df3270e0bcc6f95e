"""Bodies about agents: what one says of itself, and what it asks for."""

from typing import Annotated, Final

from fastapi import Body
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from officeplane.api import examples
from officeplane.api.parameters import WAIT_SECONDS_MAX
from officeplane.domain.agent import START_SECONDS, AgentStatus, Registration
from officeplane.domain.demand import Capability, Model
from officeplane.domain.request import Text

CAPABILITIES_MAX: Final = 256
MODELS_MAX: Final = 64
TYPES_MAX: Final = 100
CONCURRENT_MAX: Final = 1_000
CLAIMS_MAX: Final = 32
SECONDS_MAX: Final = 3_600.0

_Seconds = Annotated[float, Field(ge=1, le=SECONDS_MAX, allow_inf_nan=False)]
_Line = Annotated[Text, Field(min_length=1, max_length=200)]


class _Asked(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


class RegisterAgentRequest(_Asked):
    """What an agent says of itself, all of it: what is left out it has no more."""

    type: _Line | None = Field(default=None, description="What it is, for whoever looks at it.")
    title: _Line | None = Field(default=None, description="What people call it.")
    capabilities: Annotated[list[Capability], Field(max_length=CAPABILITIES_MAX)] = Field(
        description="What it can do. It is given no task that asks for anything else."
    )
    task_types: Annotated[list[_Line], Field(min_length=1, max_length=TYPES_MAX)] = Field(
        description="Of which types it does tasks; all of them are done by agents."
    )
    models: Annotated[list[Model], Field(max_length=MODELS_MAX)] = Field(
        default_factory=list, description="The models that it has. Tasks that ask for none are for it in any case."
    )
    max_concurrent_tasks: Annotated[int, Field(ge=1, le=CONCURRENT_MAX)] = Field(
        description="How many claims it may hold at once."
    )
    version: _Line | None = Field(default=None, description="Which of its versions it is.")
    heartbeat_seconds: _Seconds | None = Field(
        default=None, description="How often it means to be heard of; left out: three times in a lease."
    )
    start_seconds: _Seconds = Field(
        default=START_SECONDS, description="How long a claim may be held before it is started."
    )

    @property
    def registration(self) -> Registration:
        """The same by the names of the domain."""
        return Registration(
            kind=self.type,
            title=self.title,
            capabilities=tuple(sorted(set(self.capabilities))),
            task_types=tuple(dict.fromkeys(self.task_types)),
            models=tuple(dict.fromkeys(self.models)),
            max_concurrent_tasks=self.max_concurrent_tasks,
            version=self.version,
            heartbeat_seconds=self.heartbeat_seconds,
            start_seconds=self.start_seconds,
        )


class ChangeAgentRequest(_Asked):
    """Whether an agent is to claim."""

    status: Annotated[AgentStatus, Field(strict=False)] = Field(
        description="`paused` and `draining` claim nothing, and go on with what they have."
    )


class ClaimRequest(_Asked):
    """How much an agent asks for, and for how long it waits."""

    max: Annotated[int, Field(ge=1, le=CLAIMS_MAX)] = Field(default=1, description="How many tasks it wants at most.")
    wait_seconds: Annotated[float, Field(ge=0, le=WAIT_SECONDS_MAX, allow_inf_nan=False)] = Field(
        default=0, description="Answer as soon as there is something, or after this many seconds."
    )
    start: bool = Field(
        default=False, description="Whether they run at once; else each has to be started within `startSeconds`."
    )


RegisterAgentBody = Annotated[RegisterAgentRequest, Body(openapi_examples=examples.AGENT)]
ChangeAgentBody = Annotated[ChangeAgentRequest, Body(openapi_examples=examples.AGENT_CHANGE)]
ClaimBody = Annotated[ClaimRequest, Body(openapi_examples=examples.CLAIM)]
