"""Intruders: every hostile file there is, over HTTP, twice each; and what it costs those who refuse it."""

from pathlib import Path
from typing import Final

from tests.onslaught.files import every_hostile_file
from tests.onslaught.onslaught import API_BYTES_MAX, CHILD_BYTES_MAX, POOLED_MAX, WORKER_BYTES_MAX, endure
from tests.prove.figures import Figure, exactly, noted
from tests.prove.ground import ground

_MEGABYTE: Final = 1_000_000


async def intruders(folder: Path) -> list[Figure]:
    """Send every hostile file to the API, as a new document and over one that exists, while honest edits go on."""
    files = every_hostile_file()
    async with ground(folder) as place:
        toll = await endure(place.processes, folder, files)
    reasons = ", ".join(f"{count} {reason}" for reason, count in toll.refused.most_common())
    open_before, open_after = (
        ", ".join(f"{name} {held.descriptors}" for name, held in there.items()) for there in (toll.before, toll.after)
    )
    return [
        exactly("hostile files: what should not be", [wrong[:500] for wrong in toll.wrong[:20]], []),
        exactly("hostile files: refused, each for what it is", toll.refused.total(), 2 * len(files)),
        noted("hostile files: reasons", reasons),
        noted("hostile files: children that died looking", str(toll.died_looking)),
        noted("odd and honest files that were taken; edits meanwhile", f"{toll.accepted}; {toll.edits}"),
        _at_most("hostile files: most memory of the API", toll.api_peak, API_BYTES_MAX),
        _at_most("hostile files: most memory of the worker", toll.worker_peak, WORKER_BYTES_MAX),
        _at_most("hostile files: most memory of one child", toll.peaks.child, CHILD_BYTES_MAX),
        noted("hostile files: most memory of all processes", f"{toll.peaks.together / _MEGABYTE:.0f} MB"),
        noted(
            "hostile files: descriptors before and after", f"{open_before}; {open_after}", f"at most {POOLED_MAX} more"
        ),
    ]


def _at_most(name: str, measured: int, limit: int) -> Figure:
    return Figure(name, f"{measured / _MEGABYTE:.0f} MB", f"{limit / _MEGABYTE:.0f} MB", held=measured <= limit)
