"""Demands: what a task asks of whoever does it. A task that has one is done by agents, all others by workers."""

import hashlib
import json
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from officeplane.domain.space import Space

CAPABILITIES_MAX: Final = 32
MODELS_MAX: Final = 16
FALLBACK_AFTER: Final = 2
"""From how many charged failures on a task is tried by its fallback models."""

Capability = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._:+-]{0,63}$")]
"""What an agent can do, spelled in one way: what differs in its spelling is never the same."""
Model = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,99}$")]

OutputType = Literal["code", "markdown", "json", "artifact"]


class Output(BaseModel):
    """What an agent is to give back."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    type: OutputType = Field(description="What the result is.")


class AgentOptions(BaseModel):
    """What a task may be given if agents do it, and a type for those of its tasks that say nothing else."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    required_capabilities: Annotated[list[Capability], Field(max_length=CAPABILITIES_MAX)] | None = Field(
        default=None, description="What an agent has to be capable of, all of it, to be given the task."
    )
    models: Annotated[list[Model], Field(max_length=MODELS_MAX)] | None = Field(
        default=None, description="By which models it may be done, the best first; none: by any."
    )
    fallback_models: Annotated[list[Model], Field(max_length=MODELS_MAX)] | None = Field(
        default=None, description="By which models it is tried from the second charged failure on."
    )
    require_decision_report: bool | None = Field(
        default=None, description="Whether it cannot be completed without a report of what was decided, and why."
    )
    output: Output | None = Field(default=None, description="What its result is to be.")


class Demand(NamedTuple):
    """What a task asks of the agent that does it."""

    space: Space
    task_type: str
    capabilities: tuple[str, ...]
    models: tuple[str, ...]
    fallback_models: tuple[str, ...]
    id: int | None = None
    """Its number in the ledger, which has each demand once; None before it is looked up."""

    def models_after(self, failures: int) -> tuple[str, ...]:
        """Return by which models a task is done that has been charged with so many failures; none: by any."""
        return self.fallback_models if self.fallback_models and failures >= FALLBACK_AFTER else self.models

    @property
    def digest(self) -> bytes:
        """What stands for all that it asks."""
        return hashlib.sha256(json.dumps(self._replace(id=None)).encode()).digest()


class AgentTerms(NamedTuple):
    """What else a task asks of an agent, once that has it."""

    require_decision_report: bool = False
    output: OutputType | None = None


def demand_of(space: Space, task_type: str, asked: AgentOptions, of_type: AgentOptions) -> Demand:
    """Return what a task asks of agents: what is left open is as its type has it."""
    capabilities = _given(asked.required_capabilities, of_type.required_capabilities)
    return Demand(
        space,
        task_type,
        tuple(sorted(set(capabilities))),
        _each_once(_given(asked.models, of_type.models)),
        _each_once(_given(asked.fallback_models, of_type.fallback_models)),
    )


def terms_of(asked: AgentOptions, of_type: AgentOptions) -> AgentTerms | None:
    """Return what else a task asks of agents, if anything: what is left open is as its type has it."""
    report = asked.require_decision_report
    if report is None:
        report = of_type.require_decision_report or False
    output = asked.output or of_type.output
    terms = AgentTerms(report, None if output is None else output.type)
    return None if terms == AgentTerms() else terms


def _given(asked: list[str] | None, of_type: list[str] | None) -> list[str]:
    return (of_type or []) if asked is None else asked


def _each_once(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
