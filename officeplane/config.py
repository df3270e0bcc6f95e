"""Settings: one frozen object, read once by an entry point and passed inward."""

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

Seconds = Annotated[float, Field(gt=0)]


class Settings(BaseSettings):
    """What an installation can be told, through variables named `OFFICEPLANE_...`."""

    model_config = SettingsConfigDict(env_prefix="OFFICEPLANE_", frozen=True, extra="ignore")

    database_url: str = ""
    redis_url: str = ""
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8001
    workers: Annotated[int, Field(ge=1)] = 3
    concurrency: Annotated[int, Field(ge=1)] = 3
    handlers: Annotated[tuple[str, ...], NoDecode] = ()
    key_prefix: Annotated[str, Field(min_length=1)] = "officeplane"
    lock_ttl_seconds: Seconds = 600
    lease_seconds: Seconds = 30
    heartbeat_seconds: Seconds = 5
    poll_seconds: Seconds = 1
    sweep_seconds: Seconds = 2
    retry_initial_seconds: Annotated[float, Field(ge=0)] = 5
    retry_multiplier: Annotated[float, Field(ge=1)] = 5
    drain_seconds: Annotated[float, Field(ge=0)] = 25
    poison_crashes: Annotated[int, Field(ge=1)] = 2
    breaker_failure_threshold: Annotated[int, Field(ge=1)] = 5
    breaker_half_open_after: Seconds = 60
    retention_completed_days: Seconds = 7
    retention_failed_days: Seconds = 90
    alert_url: Annotated[str, Field(pattern=r"^(https?://[^\s/]+\S*)?$")] = ""
    failpoints: str = ""
    failpoints_seed: int = 0
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["console", "json"] = "console"

    @field_validator("handlers", mode="before")
    @classmethod
    def _module_names(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(name.strip() for name in value.split(",") if name.strip())
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _lower_case(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value
