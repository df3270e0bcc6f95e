"""Settings: one frozen object, read once by an entry point and passed inward."""

import re
from ipaddress import IPv6Address, ip_address
from typing import Annotated, Literal, TypeAlias
from urllib.parse import parse_qs, urlsplit

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

_NAME = re.compile(r"(?=.{1,253}\Z)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?")
_ORIGIN = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?")
_PORT_MAX = 65_535
_HOSTS = {"example": "office.example.org, 10.0.0.7"}
_ISSUER = {"example": "https://login.example.org/realms/office"}
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_ORIGINS = {"example": "https://app.example.org, http://localhost:3000"}
Auth: TypeAlias = Literal["auto", "required", "off"]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Settings(BaseSettings):
    """What an installation can be told, through variables named `OFFICEPLANE_...`."""

    # What is refused may hold a password, and is not repeated.
    model_config = SettingsConfigDict(env_prefix="OFFICEPLANE_", frozen=True, extra="ignore", hide_input_in_errors=True)

    database_url: str = ""
    owner_url: str = ""
    redis_url: str = ""
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=_PORT_MAX)] = 8001
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = ()
    auth: Auth = "auto"
    admin_key: Annotated[str, Field(repr=False)] = ""
    oidc_issuer: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: Annotated[str, Field(repr=False)] = ""
    oidc_scopes: str = "openid"
    oidc_allow: Annotated[tuple[str, ...], NoDecode] = ()
    oidc_groups_claim: Annotated[str, Field(min_length=1)] = "groups"
    oidc_grants: Annotated[tuple[str, ...], NoDecode] = ()
    workers: Annotated[int, Field(ge=1)] = 3
    concurrency: Annotated[int, Field(ge=1)] = 3
    handlers: Annotated[tuple[str, ...], NoDecode] = ()
    handler_environment: Annotated[tuple[str, ...], NoDecode] = ()
    sandbox: Literal["auto", "require"] = "auto"
    policy: Literal["strict", "standard"] = "strict"
    key_prefix: Annotated[str, Field(min_length=1)] = "officeplane"
    lock_ttl_seconds: Seconds = 600
    lease_seconds: Seconds = 30
    heartbeat_seconds: Seconds = 5
    agent_lease_seconds: Seconds = 90
    poll_seconds: Seconds = 1
    sweep_seconds: Seconds = 2
    retry_initial_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 5
    retry_multiplier: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 5
    drain_seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 25
    poison_crashes: Annotated[int, Field(ge=1)] = 2
    breaker_failure_threshold: Annotated[int, Field(ge=1)] = 5
    breaker_half_open_after: Seconds = 60
    retention_completed_days: Seconds = 7
    retention_failed_days: Seconds = 90
    retention_audit_days: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 365
    alert_url: Annotated[str, Field(pattern=r"^(https?://[^\s/]+\S*)?$")] = ""
    failpoints: str = ""
    failpoints_seed: int = 0
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["console", "json"] = "console"

    @field_validator("database_url", "owner_url")
    @classmethod
    def _can_be_read_by_postgres(cls, value: str) -> str:
        # The driver takes the first @ for the end of a password.
        if value and not (_names_servers(value, "postgresql", "postgres") and urlsplit(value).netloc.count("@") <= 1):
            raise _unreadable("postgresql://user:password@host:5432/officeplane")
        return value

    @field_validator("redis_url")
    @classmethod
    def _can_be_read_by_redis(cls, value: str) -> str:
        if value and not _names_servers(value, "redis", "rediss", "unix"):
            raise _unreadable("redis://:password@host:6379/0")
        return value

    @field_validator("oidc_issuer")
    @classmethod
    def _is_an_issuer(cls, value: str) -> str:
        if value and not _is_issuer(value):
            raise PydanticCustomError(
                "no_issuer", "It must be like {example}, as the provider itself says it.", _ISSUER
            )
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def _are_hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(host == "*" or _is_host(host) for host in value):
            raise PydanticCustomError(
                "no_hosts", "It must be names or addresses without ports, or *: {example}.", _HOSTS
            )
        return value

    @field_validator("allowed_origins")
    @classmethod
    def _are_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(_is_origin, value)):
            raise PydanticCustomError("no_origins", "It must be origins, each named: {example}.", _ORIGINS)
        return value

    @field_validator(
        "handlers",
        "handler_environment",
        "allowed_hosts",
        "allowed_origins",
        "oidc_allow",
        "oidc_grants",
        mode="before",
    )
    @classmethod
    def _listed(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(name.strip() for name in value.split(",") if name.strip())
        return value

    @field_validator("log_level", mode="before")
    @classmethod
    def _lower_case(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value


def _names_servers(url: str, *schemes: str) -> bool:
    """Tell whether a URL can be read; a password that is not escaped makes nonsense of its hosts and ports."""
    try:
        parts = urlsplit(url)
        parse_qs(parts.query, strict_parsing=bool(parts.query))
        ports = {urlsplit(f"//{host}").port for host in parts.netloc.rpartition("@")[2].split(",")}
    except ValueError:
        return False
    return parts.scheme in schemes and 0 not in ports


def _is_issuer(url: str) -> bool:
    """Tell whether a provider can be there whose word nobody on the way can change."""
    try:
        parts = urlsplit(url)
        is_near = parts.hostname in _LOOPBACK and parts.port != 0
    except ValueError:
        return False
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_near)
    return is_safe and bool(parts.hostname) and not (parts.query or parts.fragment or "@" in parts.netloc)


def _unreadable(example: str) -> PydanticCustomError:
    return PydanticCustomError(
        "unreadable_url",
        "It must be like {example}, with / ? # @ % in a password written as %2F %3F %23 %40 %25.",
        {"example": example},
    )


def _is_host(host: str) -> bool:
    """Tell whether a request can name this host: a name, or an address without a zone."""
    is_bracketed = host.startswith("[") and host.endswith("]")
    try:
        _ = IPv6Address(host[1:-1]) if is_bracketed else ip_address(host)
    except ValueError:
        return _NAME.fullmatch(host) is not None
    return "%" not in host


def _is_origin(origin: str) -> bool:
    found = _ORIGIN.fullmatch(origin)
    return found is not None and _is_host(found[1]) and int(found[2] or 0) <= _PORT_MAX
