"""What was merged of an upload, as lines for a terminal."""

from collections.abc import Iterator, Sequence

from officeplane.cli.answers import MergedNodes, Warned
from officeplane.cli.texts import one_line

_NAMED_MAX = 5


def merged_lines(merged: MergedNodes, warnings: Sequence[Warned]) -> Iterator[str]:
    """Yield what came into the document, and what did not."""
    kinds = {"changed": merged.changed, "added": merged.added, "removed": merged.removed, "moved": merged.moved}
    told = [f"{len(ids)} {kind}{_named(ids)}" for kind, ids in kinds.items() if ids]
    yield f"merged since revision {merged.base}: {'; '.join(told) or 'nothing was changed'}"
    for warning in warnings:
        where = "" if warning.node_id is None else f"{warning.node_id}: "
        yield one_line(f"  {where}{warning.detail} ({warning.code})", 300)


def _named(ids: Sequence[str]) -> str:
    more = ", …" if len(ids) > _NAMED_MAX else ""
    return f" ({', '.join(ids[:_NAMED_MAX])}{more})"
