"""Declared types: what the ledger says of task types that no handler does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from officeplane.domain.demand import AgentOptions
from officeplane.domain.retry import RetryPolicy


class TypeDefaults(AgentOptions):
    """What tasks of a type have when they do not say otherwise."""

    model_config = ConfigDict(validate_by_name=True)

    max_retries: Annotated[int, Field(ge=0, le=20)] | None = None
    timeout_seconds: Annotated[float, Field(ge=0.1, le=86_400, allow_inf_nan=False)] | None = None
    retry: RetryPolicy | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredType:
    """A task type as it was declared; without a schema, anything will do."""

    name: str
    title: str
    payload_schema: Mapping[str, Any] | None = None
    result_schema: Mapping[str, Any] | None = None
    defaults: TypeDefaults = field(default_factory=TypeDefaults)
