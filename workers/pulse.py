"""The pulse: whether the worker's event loop turns, and whose step it is that keeps it from turning.

Another thread looks again and again, and asks the loop for a sign of life each
time it had one. What it counts are its own looks, each as long as it was meant
to be and no longer: on a machine that stands still, or gives this process no
processor, the looks stand still too, and nobody is blamed.
"""

import asyncio
import gc
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from contextvars import Context
from types import FrameType
from typing import Final, NamedTuple

from officeplane.domain.blockage import Blockage
from officeplane.domain.ids import ClaimId
from officeplane.domain.task import ClaimedTask
from workers.attempts import in_hand

LOOK_SECONDS: Final = 0.25
BLOCKED_SECONDS: Final = 2.0
FRAMES_SHOWN: Final = 30
# The stack between the loop and a handler is in these; the author of a handler knows the lines beyond them.
_NOT_OF_HANDLERS: Final = frozenset({"asyncio", "officeplane", "uvloop", "workers"})


class Standstill(NamedTuple):
    """A loop that does not turn: for how long, whose step keeps it, and where that is."""

    seconds: float
    task: ClaimedTask | None
    at: str
    stack: str

    @property
    def claim_id(self) -> ClaimId | None:
        """The claim under which the step is made, if it belongs to an attempt."""
        return None if self.task is None else self.task.claim_id

    @property
    def blockage(self) -> Blockage:
        """What others are told of it."""
        if self.task is None:
            return Blockage(self.seconds, self.at)
        return Blockage(self.seconds, self.at, self.task.id, self.task.task_type)


class Pulse:
    """The turning of the loop in which this is made, felt from another thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._has_turned = True
        self._step: asyncio.Task[object] | None = None
        self._looks = 0

    def look(self) -> Standstill | None:
        """Look once, to be called every `LOOK_SECONDS`; tell if one and the same step has lasted for too long."""
        step = asyncio.current_task(self._loop)
        if self._has_turned:
            self._has_turned = False
            self._looks = 0
            # A loop that is closed is asked no more.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._turned)
        elif step is self._step:
            self._looks += 1
        else:
            # Many short steps in a row are work, however long they take together.
            self._looks = 0
        self._step = step
        seconds = self._looks * LOOK_SECONDS
        return self._standstill(step, seconds) if seconds >= BLOCKED_SECONDS else None

    def _turned(self) -> None:
        self._has_turned = True

    def _standstill(self, step: "asyncio.Task[object] | None", seconds: float) -> Standstill:
        # There is no other way to the stack of another thread than this, which is documented for the purpose.
        innermost = sys._current_frames().get(self._thread)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        frames = list(_frames(innermost, step))
        stack = traceback.StackSummary.extract((frame, frame.f_lineno) for frame in reversed(frames[:FRAMES_SHOWN]))
        theirs = [frame for frame in frames if step is not None and _package(frame) not in _NOT_OF_HANDLERS]
        place = theirs[-1] if theirs else frames[0] if frames else None
        at = "a place unknown" if place is None else f"{place.f_code.co_filename}:{place.f_lineno}"
        return Standstill(seconds, _attempt_of(step), at, "".join(stack.format()))


def _frames(innermost: FrameType | None, step: "asyncio.Task[object] | None") -> Iterator[FrameType]:
    """Yield the frames of a step, from the innermost outwards; of none in particular, those of the whole thread."""
    begin = None if step is None else getattr(step.get_coro(), "cr_frame", None)
    frame = innermost
    while frame is not None:
        yield frame
        frame = None if frame is begin else frame.f_back


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _attempt_of(step: "asyncio.Task[object] | None") -> ClaimedTask | None:
    """Return the attempt that a step is made for: its own, or that of a task of the loop which its handler started."""
    # Before Python 3.12 a task of the loop does not tell its context to those who ask.
    contexts = () if step is None else gc.get_referents(step)
    return next((context.get(in_hand) for context in contexts if isinstance(context, Context)), None)
