"""The census: what processes hold, as the system sees it."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.sandbox.processes import children_of

SAMPLE_SECONDS: Final = 0.03
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a process has open."""

    descriptors: int
    sockets: int
    unlinked_files: int

    @classmethod
    def of(cls, pid: int) -> "Holdings":
        """Count what a process has open now."""
        targets: list[str] = []
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                targets.append(str(link.readlink()))
        return cls(
            len(targets),
            sum(target.startswith("socket:") for target in targets),
            sum(target.endswith("(deleted)") for target in targets),
        )


@dataclass(slots=True)
class Peaks:
    """The most memory that was seen in use, in bytes: by one child, and by all processes together."""

    child: int = 0
    together: int = 0


@asynccontextmanager
async def watched(pids: Sequence[int]) -> AsyncGenerator[Peaks, None]:
    """Look at processes and their offspring again and again."""
    peaks = Peaks()

    async def look() -> None:
        while True:
            offspring = _offspring_of(pids)
            sizes = [resident_bytes(pid) for pid in offspring]
            peaks.child = max([peaks.child, *sizes])
            peaks.together = max(peaks.together, sum(sizes) + sum(map(resident_bytes, pids)))
            await asyncio.sleep(SAMPLE_SECONDS)

    looking = asyncio.create_task(look())
    try:
        yield peaks
    finally:
        looking.cancel()


def resident_bytes(pid: int) -> int:
    """Return how much memory a process has now, 0 when it is gone."""
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    return 0


def peak_bytes(pid: int) -> int:
    """Return the most memory that a process ever had."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def _offspring_of(pids: Sequence[int]) -> list[int]:
    children = [child for pid in pids for child in children_of(pid)]
    return children + _offspring_of(children) if children else []
