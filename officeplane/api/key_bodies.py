"""Bodies about keys: what one is to be called, may do, and has to do with."""

from typing import Annotated, Final, Self, cast

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel

from officeplane.api.quota_bodies import QuotasRequest
from officeplane.domain.api_key import NAME_PATTERN
from officeplane.domain.narrowing import ENTRIES_MAX, Narrowing
from officeplane.domain.principal import Scope
from officeplane.domain.quota import UNLIMITED, Quotas
from officeplane.domain.request import PriorityField, priority_value
from officeplane.domain.space import SPACE_PATTERN
from officeplane.services.access.api_keys import OVERLAP_SECONDS, KeyChanges

OVERLAP_SECONDS_MAX: Final = 30 * 86_400.0

_Name = Annotated[str, Field(pattern=NAME_PATTERN)]
_Scopes = Annotated[list[Annotated[Scope, Field(strict=False)]], Field(min_length=1, max_length=len(Scope))]
_Entries = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=1, max_length=ENTRIES_MAX)
]
_Expiry = Annotated[AwareDatetime, Field(strict=False)]


class _Asked(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)


class _Narrowed(_Asked):
    documents: _Entries | None = Field(
        default=None,
        description="The documents that it has to do with: ids, and beginnings of ids that end in `*`; `-` for tasks "
        "that have no document. Null: all.",
        examples=[["plan", "report-*", "-"]],
    )
    task_types: _Entries | None = Field(
        default=None,
        description="The task types that it has to do with: names, and beginnings of names that end in `*`. Files "
        "are brought in as `upload`. Null: all.",
        examples=[["add_section", "billing.*"]],
    )
    agents: _Entries | None = Field(
        default=None,
        description="As which agents it may claim: ids, and beginnings of ids that end in `*`. Null: as any.",
        examples=[["writer-*"]],
    )
    max_priority: PriorityField | None = Field(
        default=None, description="The most urgent priority that it may ask for, as in a task. Null: any."
    )

    quotas: QuotasRequest | None = Field(
        default=None, description="What it may use, beside what its space may; null: no less than that."
    )

    @property
    def most_urgent(self) -> int:
        """The most urgent priority that it may ask for."""
        return 0 if self.max_priority is None else priority_value(self.max_priority)

    @property
    def limits(self) -> Quotas:
        """What it may use."""
        return UNLIMITED if self.quotas is None else self.quotas.over(UNLIMITED)


class CreateKeyRequest(_Narrowed):
    """A key that is to be made."""

    name: _Name = Field(
        description="What it is called: by whom, or for what, it is used. Two of one space that work may not share one."
    )
    scopes: _Scopes = Field(
        description="What it may do: `read`, `edit`, `control`, `agent`, `admin`; `admin` has all others."
    )
    space: Annotated[str, Field(pattern=SPACE_PATTERN)] | None = Field(
        default=None,
        description="The space that it lives in, which is there from its first key on. Left out: that of whoever asks.",
    )
    expires_at: _Expiry | None = Field(
        default=None, description="When it ends to work; left out, it works until it is revoked."
    )

    @property
    def narrowing(self) -> Narrowing:
        """What it is to have to do with."""
        return Narrowing(_tuple(self.documents), _tuple(self.task_types), self.most_urgent, _tuple(self.agents))


class ChangeKeyRequest(_Narrowed):
    """What of a key is to be otherwise; what is not named stays."""

    name: _Name | None = Field(default=None, description="What it is called from now on, as it is itself known by.")
    scopes: _Scopes | None = Field(default=None, description="All that it may do, in place of what it may.")
    expires_at: _Expiry | None = Field(default=None, description="When it ends to work; null: when it is revoked.")

    @field_validator("name", "scopes")
    @classmethod
    def _not_cleared(cls, value: object) -> object:
        if value is None:
            message = "it cannot be cleared"
            raise ValueError(message)
        return value

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if not self.model_fields_set:
            message = (
                "name what to change: name, scopes, documents, taskTypes, agents, maxPriority, quotas or expiresAt"
            )
            raise ValueError(message)
        return self

    @property
    def changes(self) -> KeyChanges:
        """What is to be otherwise, by the names of the domain."""
        named = {
            "name": self.name,
            "scopes": self.scopes,
            "expires_at": self.expires_at,
            "documents": _tuple(self.documents),
            "task_types": _tuple(self.task_types),
            "agents": _tuple(self.agents),
            "max_priority": self.most_urgent,
            "quotas": self.limits,
        }
        changes = {name: value for name, value in named.items() if name in self.model_fields_set}
        if "max_priority" in changes:
            changes["most_urgent"] = changes.pop("max_priority")
        # The names are those of the fields, and what may not be null has been looked at.
        return cast("KeyChanges", changes)


class RotateKeyRequest(_Asked):
    """How a key is to be replaced."""

    overlap_seconds: Annotated[float, Field(ge=0, le=OVERLAP_SECONDS_MAX, allow_inf_nan=False)] = Field(
        default=OVERLAP_SECONDS, description="For how long the old key works beside the new one."
    )


def _tuple(entries: list[str] | None) -> tuple[str, ...] | None:
    return None if entries is None else tuple(entries)
