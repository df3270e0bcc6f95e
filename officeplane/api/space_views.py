"""Spaces as the API shows them, and as they are set."""

from dataclasses import asdict

from pydantic import Field

from officeplane.api.views import View
from officeplane.domain.quota import Quotas
from officeplane.domain.space import Space
from officeplane.services.access.spaces import Usage


class QuotasView(View):
    """What somebody may use; null: as much as he likes."""

    max_waiting_tasks: int | None
    max_documents: int | None
    max_bytes: int | None
    max_revisions_per_document: int | None
    submissions_per_minute: int | None
    uploads_per_minute: int | None
    max_streams: int | None
    max_waits: int | None
    max_agents: int | None


class SpaceView(QuotasView):
    """A space with what it may use."""

    name: str


class UsageView(View):
    """What a space uses."""

    waiting_tasks: int
    documents: int
    bytes: int = Field(description="What its documents take as they are kept: equal parts of revisions once.")


class SpaceInUseView(SpaceView):
    """A space with what it may use and what it uses."""

    usage: UsageView


def space_view(name: Space, quotas: Quotas) -> SpaceView:
    """Return a space as lists show it."""
    return SpaceView.model_validate(_facts(name, quotas))


def space_in_use_view(name: Space, quotas: Quotas, usage: Usage) -> SpaceInUseView:
    """Return a space as it is shown alone."""
    return SpaceInUseView.model_validate({**_facts(name, quotas), "usage": usage._asdict()})


def _facts(name: Space, quotas: Quotas) -> dict[str, object]:
    return {"name": name, **asdict(quotas)}
