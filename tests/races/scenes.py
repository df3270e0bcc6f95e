"""What is raced for: a task or a tree in the state in which both actions have something to say."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from officeplane.domain.failure import FailureKind
from tests.races.arena import Arena, Round, Who

CHILD: Final = {"task_type": "noop"}
ALONE: Final[dict[str, Any]] = {"document_id": None}
HOPELESS: Final = {"task_type": "noop", "max_retries": 0}

Arrange = Callable[[Arena, int], Awaitable[Sequence[Round]]]


@dataclass(frozen=True, slots=True)
class Scene:
    """A name for the tests' ids, and how it is arranged for a number of rounds."""

    name: str
    arrange: Arrange


def queued(**options: Any) -> Scene:
    """Nobody has it yet."""
    return Scene(_named("queued", options), lambda arena, number: arena.rounds(number, **options))


def running(*who: Who, **options: Any) -> Scene:
    """One actor runs it; two are the one worker whose settlement's answer was lost and that settles again."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await arena.rounds(number, **options)
        await arena.hold(wave, who[0])
        for round_ in wave:
            round_.holds |= dict.fromkeys(who, round_.holds[who[0]])
        return wave

    return Scene(_named("running" if len(who) == 1 else "running, settled twice", options), arrange)


def lapsed(*who: Who, **options: Any) -> Scene:
    """One actor runs it and its lease has run out; nobody has noticed."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await arena.rounds(number, **options)
        # Of the two only the second leaves no lock behind that the other would find.
        await arena.hold(wave, who[0] if who else "second")
        await arena.lapse()
        return wave

    return Scene(_named("lapsed", options), arrange)


def stale(who: Who, **options: Any) -> Scene:
    """One actor still believes that it runs it: its lease ran out and its attempt was ended."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await arena.rounds(number, **options)
        await arena.hold(wave, who)
        await arena.lapse()
        await arena.reap()
        return wave

    return Scene(_named("stale", options), arrange)


def superseded() -> Scene:
    """The first actor still believes that it runs it, and the second does."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await stale("first").arrange(arena, number)
        await arena.hold(wave, "second")
        return wave

    return Scene("superseded", arrange)


def failed() -> Scene:
    """It has failed for good."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await arena.rounds(number, max_retries=0)
        await arena.hold(wave, "first")
        await asyncio.gather(*(round_.first.fail(round_.holds["first"]) for round_ in wave))
        return wave

    return Scene("failed", arrange)


def next_in_lane(who: Who) -> Scene:
    """One actor runs a task, and another waits behind it."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await arena.rounds(number)
        await arena.hold(wave, who)
        for round_ in wave:
            round_.tasks += (await round_.first.a_task(document_id=round_.document_id),)
        return wave

    return Scene("next in the lane", arrange)


def last_child(who: Who, *, target: int = 0) -> Scene:
    """One actor runs the last child of a batch."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await arena.trees(number, CHILD, CHILD)
        await _run_first_child(arena, wave)
        await arena.hold(wave, who, leaf=2)
        return _aimed(wave, target)

    return Scene("last child", arrange)


def last_child_lapsed(who: Who) -> Scene:
    """The same, and its lease has run out."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await last_child(who).arrange(arena, number)
        await arena.lapse()
        return wave

    return Scene("last child, lapsed", arrange)


def last_child_superseded() -> Scene:
    """The first actor still believes that it runs the last child, and the second does."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await last_child_lapsed("first").arrange(arena, number)
        await arena.reap()
        await arena.hold(wave, "second", leaf=2)
        return wave

    return Scene("last child, superseded", arrange)


def last_child_twice() -> Scene:
    """One worker settles the last child a second time, because the first answer was lost."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await last_child("first").arrange(arena, number)
        for round_ in wave:
            round_.holds["second"] = round_.holds["first"]
        return wave

    return Scene("last child, twice", arrange)


def last_child_of_inner_batch(who: Who) -> Scene:
    """One actor runs the only child of a batch within a batch; its uncle waits for its turn."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await arena.trees(number, {"children": [CHILD]}, CHILD)
        await arena.hold(wave, who, leaf=2)
        return wave

    return Scene("last child of an inner batch", arrange)


def last_child_after_a_failure(who: Who) -> Scene:
    """One actor runs the last child of a batch that goes on although its first child has failed."""

    async def arrange(arena: Arena, number: int) -> Sequence[Round]:
        wave = await arena.trees(number, HOPELESS, CHILD, on_child_failure="continue")
        await arena.hold(wave, "first", leaf=1)
        await asyncio.gather(*(round_.first.fail(round_.holds["first"], FailureKind.ERROR) for round_ in wave))
        await arena.hold(wave, who, leaf=2)
        return _aimed(wave, 1)

    return Scene("last child after a failure", arrange)


def _named(name: str, options: dict[str, Any]) -> str:
    if options == ALONE:
        return f"{name}, without a document"
    return f"{name}, without retries" if options else name


async def _run_first_child(arena: Arena, wave: Sequence[Round]) -> None:
    await arena.hold(wave, "first", leaf=1)
    await asyncio.gather(*(round_.first.complete(round_.holds.pop("first")) for round_ in wave))


def _aimed(wave: Sequence[Round], target: int) -> Sequence[Round]:
    for round_ in wave:
        round_.target = round_.tasks[target].id
    return wave
