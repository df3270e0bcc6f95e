"""Python's garbage collector, set for a process in which thousands of objects live for some milliseconds."""

import gc
from typing import Final

# At Python's own 700 a busy worker spends a third of its time in looking through tasks that all still live.
_OBJECTS_BEFORE_A_LOOK: Final = 10_000


def relax_collector() -> None:
    """Look for garbage less often, and never again in what was there before the work began."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS_BEFORE_A_LOOK)
