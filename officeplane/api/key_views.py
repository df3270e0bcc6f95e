"""API keys as the API shows them; the key itself is in one answer only, that to whoever makes it."""

from dataclasses import asdict

from pydantic import Field

from officeplane.api.space_views import QuotasView
from officeplane.api.views import Time, View
from officeplane.domain.api_key import ApiKey
from officeplane.domain.principal import Scope
from officeplane.domain.quota import UNLIMITED
from officeplane.services.access.api_keys import MadeKey


class KeyView(View):
    """What is known of a key; `shown` is how it begins."""

    id: str
    name: str
    shown: str
    space: str
    scopes: tuple[Scope, ...]
    documents: tuple[str, ...] | None
    task_types: tuple[str, ...] | None
    agents: tuple[str, ...] | None
    max_priority: int | None
    quotas: QuotasView | None = Field(description="What it may use, beside what its space may; null: no less.")
    created_by: str
    created_at: Time
    expires_at: Time | None
    revoked_at: Time | None
    last_used_at: Time | None
    replaced_by: str | None


class MadeKeyView(KeyView):
    """The same, with the key, which is never shown again."""

    key: str


def key_view(key: ApiKey) -> KeyView:
    """Return a key as lists show it."""
    return KeyView.model_validate(_facts(key))


def made_key_view(made: MadeKey) -> MadeKeyView:
    """Return a key as it is shown once."""
    return MadeKeyView.model_validate({**_facts(made.key), "key": made.text})


def _facts(key: ApiKey) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "shown": key.shown,
        "space": key.space,
        "scopes": sorted(key.scopes),
        "documents": key.narrowing.documents,
        "task_types": key.narrowing.task_types,
        "agents": key.narrowing.agents,
        "max_priority": key.narrowing.most_urgent or None,
        "quotas": None if key.quotas == UNLIMITED else asdict(key.quotas),
        "created_by": key.created_by,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
        "replaced_by": key.replaced_by,
    }
