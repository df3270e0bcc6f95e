"""The worlds that are searched: each small enough to be searched to its end, all together what can go wrong."""

from collections.abc import Mapping
from typing import Final

from tests.model.agents import Agents
from tests.model.steps import World
from tests.model.workers import Workers

_ALL: Final[tuple[World, ...]] = (
    Agents("tiny", "one task, claimed once", verbs=("complete", "fail", "decline"), left=("complete", "reap"),
           claims_max=1),
    Agents("small", "one task, claimed once, with everything that can happen to it", claims_max=1),
    Agents("again", "one task, claimed again while its first holder may still come", verbs=("start", "complete"),
           cancels=False),
    Agents("free", "one task, claimed again after any end", verbs=("complete", "fail", "decline"), left=("reap",)),
    Agents("declined", "one task that nobody wants", verbs=("decline",), left=(), cancels=False),
    Agents("late", "one task that takes too long", verbs=("beat", "complete"), left=("reap",), times_out=True,
           claims_max=1),
    Agents("lane", "two tasks of a document, of which the first yields while it waits for its retry", tasks=2,
           document_id="report", yields=True, times_out=True, verbs=("start", "complete"), left=(), cancels=False),
    Agents("pair", "two tasks, and agents that want one at a time", tasks=2, verbs=("complete", "decline"), left=(),
           cancels=False),
    Agents("books", "one task, and what each verb has cost", claims_max=1, costs=True, left=("complete", "fail",
           "reap")),
    Agents("poison", "one task, and three attempts that may all be charged", claims_max=3, max_retries=5,
           verbs=("complete", "fail"), left=(), starts=True, cancels=False),
    Agents("midst", "one task, and two processes in the midst of what they do to it", claims_max=1, processes=2,
           verbs=("complete", "fail"), cancels=False),
    Workers("kernel", "one task that workers reserve before they start it", claims_max=2),
)  # fmt: skip

WORLDS: Final[Mapping[str, World]] = {world.name: world for world in _ALL}
