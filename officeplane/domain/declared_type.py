"""Declared types: what the ledger says of task types that no handler does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field

from officeplane.domain.demand import AgentOptions
from officeplane.domain.request import OwnRetryPolicy

DECLARED_MAX: Final = 1_000
"""How many types are declared: every process knows them all."""

SCHEMA_BYTES_MAX: Final = 64 * 1024
NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$"


class TypeDefaults(AgentOptions):
    """What tasks of a type have when they do not say otherwise."""

    max_retries: Annotated[int, Field(ge=0, le=20)] | None = Field(
        default=None, description="How often they are tried again after a failure."
    )
    timeout_seconds: Annotated[float, Field(ge=0.1, le=86_400, allow_inf_nan=False)] | None = Field(
        default=None, description="How long one attempt may take."
    )
    retry: OwnRetryPolicy = Field(
        default=None, description="How long to wait before each retry, and after which failures there is none."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredType:
    """A task type as it was declared; without a schema, anything will do."""

    name: str
    title: str
    payload_schema: Mapping[str, Any] | None = None
    result_schema: Mapping[str, Any] | None = None
    defaults: TypeDefaults = field(default_factory=TypeDefaults)
