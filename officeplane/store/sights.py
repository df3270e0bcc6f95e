"""Sights: what of the ledger a caller may see, as statements compare it."""

from collections.abc import Sequence
from typing import TypedDict

from officeplane.domain.principal import Sight


class PlaceValues(TypedDict):
    """What tells in a statement which documents a caller may see."""

    seen_space: str | None
    seen_documents: Sequence[str] | None


class SightValues(PlaceValues):
    """What tells in a statement which tasks a caller may see."""

    seen_types: Sequence[str] | None


def seen_by(sight: Sight) -> SightValues:
    """Return what tells in a statement which tasks a caller may see."""
    return {**places_seen_by(sight), "seen_types": sight.task_types}


def places_seen_by(sight: Sight) -> PlaceValues:
    """Return what tells in a statement which documents a caller may see."""
    return {"seen_space": sight.space, "seen_documents": sight.documents}
