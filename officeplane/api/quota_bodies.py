"""Quotas as they are set, those of spaces and those of keys."""

from dataclasses import replace
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from officeplane.domain.quota import Quotas

Limit: TypeAlias = Annotated[int, Field(ge=0, le=2**53)] | None


class QuotasRequest(BaseModel):
    """What somebody may use: null lifts a limit, what is left out is as it would be had nobody said anything."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, alias_generator=to_camel)

    max_waiting_tasks: Limit = Field(default=None, description="Tasks that wait, children of batches too.")
    max_documents: Limit = Field(default=None, description="Documents.")
    max_bytes: Limit = Field(default=None, description="Bytes that documents take as they are kept.")
    max_revisions_per_document: Limit = Field(default=None, description="Revisions of any one document.")
    submissions_per_minute: Limit = Field(default=None, description="Tasks submitted, to each server.")
    uploads_per_minute: Limit = Field(default=None, description="Files uploaded, to each server.")
    max_streams: Limit = Field(default=None, description="Event streams at once, of each server.")
    max_waits: Limit = Field(default=None, description="Requests that wait for a task at once, of each server.")
    max_agents: Limit = Field(default=None, description="Agents.")

    def over(self, usual: Quotas) -> Quotas:
        """Return the usual quotas with those that are asked for in their place."""
        return replace(usual, **self.model_dump(include=self.model_fields_set))
