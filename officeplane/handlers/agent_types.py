"""Types that agents do, without a declaration: seven kinds of work with one payload, and `judge`.

A handler of the same name is what counts: an installation may have given these
names to types of its own.
"""

import re
from typing import Annotated, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator
from pydantic.alias_generators import to_camel

from officeplane.domain.demand import AgentOptions
from officeplane.domain.ids import DOCUMENT_ID_PATTERN
from officeplane.handlers.contract import TaskType

WORK_SECONDS: Final = 3600.0
CONTEXT_REFS_MAX: Final = 100
_UUID: Final = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_CONTEXT_REF: Final = re.compile(
    f"artifact:[0-9a-f]{{64}}|task:{_UUID}([.][^.]+)+|document:{DOCUMENT_ID_PATTERN.strip('^$')}@[1-9][0-9]{{0,15}}"
)


def _context_ref(value: str) -> str:
    if _CONTEXT_REF.fullmatch(value) is None:
        message = "It is written artifact:<sha256>, task:<id>.<field> or document:<id>@<revision>."
        raise ValueError(message)
    return value


ContextRef = Annotated[str, Field(max_length=1_000), AfterValidator(_context_ref)]


class Assignment(BaseModel):
    """What an agent is to do: a goal or a prompt, and what it takes to get there."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        json_schema_extra={
            "anyOf": [{"required": ["goal"]}, {"required": ["prompt"]}],
            "examples": [{"goal": "The importer reads files with Windows line ends.", "target": "src/importer.py"}],
        },
    )

    goal: Annotated[str, Field(min_length=1)] | None = Field(default=None, description="What success looks like.")
    prompt: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="What a model is to be told, if that is known."
    )
    action: str | None = Field(default=None, description="What is to be done, in a word: implement, fix, summarise.")
    target: str | None = Field(default=None, description="What it is to be done to: a file, a document, a service.")
    params: dict[str, JsonValue] | None = Field(default=None, description="Whatever the action takes besides.")
    constraints: list[str] | None = Field(default=None, description="What must hold of whatever is done.")
    context: str | dict[str, JsonValue] | None = Field(
        default=None, description="What whoever does it should know: related files, decisions, what was tried before."
    )
    context_refs: Annotated[list[ContextRef], Field(max_length=CONTEXT_REFS_MAX)] | None = Field(
        default=None,
        description=(
            "What else to look at: `artifact:<sha256>`, `task:<id>.<field>` of its result, `document:<id>@<revision>`."
        ),
    )

    @model_validator(mode="after")
    def _says_what(self) -> Self:
        if self.goal is None and self.prompt is None:
            message = "Say what is to be done: it needs a goal or a prompt."
            raise ValueError(message)
        return self


class Judgement(BaseModel):
    """What is to be judged, and by which measure."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        json_schema_extra={"examples": [{"rubric": "Is it polite?", "threshold": 0.5, "output": "Good morning!"}]},
    )

    rubric: Annotated[str, Field(min_length=1)] = Field(description="By what it is judged, in words.")
    threshold: Annotated[float, Field(ge=0, le=1)] = Field(description="The score from which on it is good enough.")
    input: JsonValue = Field(default=None, description="What the output was made from.")
    output: JsonValue = Field(description="What is judged.")


def _work(name: str, title: str, *, reports: bool = True) -> TaskType:
    asks = AgentOptions.model_validate({"requireDecisionReport": True} if reports else {})
    return _type(name, title, Assignment, WORK_SECONDS, asks)


def _type(name: str, title: str, payload: type[BaseModel], seconds: float | None, asks: AgentOptions) -> TaskType:
    return TaskType(
        name=name, title=title, payload=payload, run=None, is_async=False, timeout_seconds=seconds, asks=asks
    )


AGENT_TYPES: Final = (
    _work("code", "Write or change code"),
    _work("research", "Look something up"),
    _work("review", "Look through what somebody has made"),
    _work("test", "Try whether something works"),
    _work("deploy", "Bring something into service"),
    _work("synthesis", "Make one thing of several"),
    # Its result is a plan, which says itself what was decided.
    _work("orchestrate", "Plan how a goal is reached", reports=False),
    _type(
        "judge", "Judge an output", Judgement, None, AgentOptions.model_validate({"requiredCapabilities": ["judge"]})
    ),
)
