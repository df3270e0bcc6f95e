"""The whole keyspace: what OfficePlane keeps in Redis, under which name, for how long.

Nothing here is truth. Every key may vanish at any moment and only latency is
lost. A key is named here or nowhere; in a Cluster the prefix carries a hash
tag (`{officeplane}`), which puts all of them into one slot, as the scripts and
pipelines that touch several at once need.
"""

from typing import Final

from officeplane.domain.priority import Tier
from officeplane.domain.space import DEFAULT, Space

SET_ASIDE_SECONDS: Final = 86_400

_LIST_NAMES: Final = {Tier.CRITICAL: "critical", Tier.HIGH: "high", Tier.NORMAL: "tasks", Tier.LOW: "low"}


class Keyspace:
    """The names of all keys and channels under one prefix."""

    def __init__(self, prefix: str) -> None:
        self.prefix: Final = prefix
        self.hint_lists: Final = tuple(f"{prefix}:{_LIST_NAMES[tier]}" for tier in Tier)
        self.turns: Final = tuple(self.turns_of(tier) for tier in Tier)
        self.wakes: Final = tuple(self.wake(tier) for tier in Tier)
        self.spaces: Final = f"{prefix}:space:"

    def hint_list(self, tier: Tier, space: Space = DEFAULT) -> str:
        """Return the list a tier's hints of a space wait on.

        Type list of task ids, pushed left and popped right; no TTL; owner: `Bells`.
        """
        return self.hint_lists[tier] if space == DEFAULT else f"{self.spaces}{space}:{_LIST_NAMES[tier]}"

    def hint_lists_of(self, space: Space) -> tuple[str, ...]:
        """Return the lists of all tiers of a space; type, no TTL and owner: `Bells`, as of each."""
        return self.hint_lists if space == DEFAULT else tuple(self.hint_list(tier, space) for tier in Tier)

    def space_of_list(self, name: str) -> Space:
        """Return the space whose hints wait on a list; type, no TTL and owner: `Bells`, as above."""
        return Space(name[len(self.spaces) :].partition(":")[0]) if name.startswith(self.spaces) else DEFAULT

    def turns_of(self, tier: Tier) -> str:
        """Return the key that says whose turn it is: the lists of spaces that have hints, the next one rightmost.

        Type list of names of lists, each once; no TTL, gone when the lists are empty; owner: `Bells`.
        """
        return f"{self.prefix}:turns:{_LIST_NAMES[tier]}"

    def wake(self, tier: Tier) -> str:
        """Return the key that wakes a worker that waits, as long as there are turns, but for moments.

        Type list of one entry; no TTL, gone with the turns; owner: `Bells`.
        """
        return f"{self.prefix}:wake:{_LIST_NAMES[tier]}"

    def lock(self, document_id: str) -> str:
        """Return the key of a document's lock.

        Type string, `worker_id:hold_id`; TTL `lock_ttl_seconds`; owner: `Locks`.
        """
        return f"{self.prefix}:doclock:{document_id}"

    def parked(self, document_id: str) -> str:
        """Return the key of the hint that waits for a document's lock to be given back.

        Type string, `tier:task_id`; TTL at least that of the lock; owner: `Locks`.
        """
        return f"{self.prefix}:parked:{document_id}"

    @property
    def set_aside(self) -> str:
        """Return where a key is moved that stood in a hint list's place and is no list.

        Any type; TTL `SET_ASIDE_SECONDS`; owner: `Bells`.
        """
        return f"{self.prefix}:set-aside"

    @property
    def probe(self) -> str:
        """Return the key that is written to see whether Redis takes writes again.

        Type string; TTL one second; owner: `Connection`.
        """
        return f"{self.prefix}:probe"

    @property
    def events(self) -> str:
        """Return the channel on which finished work is announced; nothing is stored. Owner: `Announcements`."""
        return f"{self.prefix}:events"

    @property
    def control(self) -> str:
        """Return the channel on which workers are asked to stop a task; nothing is stored. Owner: `Announcements`."""
        return f"{self.prefix}:control"
