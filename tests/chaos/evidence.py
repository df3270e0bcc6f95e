"""Evidence: everything that is left of a run, in plain values. The checker reads this and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.chaos.graph_orders import SPAWNERS
from tests.chaos.history import Operation
from tests.chaos.marks import Mark
from tests.chaos.nemesis import Struck
from tests.chaos.orders import EDIT
from tests.chaos.processes import Death
from tests.chaos.sightings import Sightings
from tests.chaos.terms import Terms
from tests.chaos.watcher import Sighting


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task as the table has it at the end."""

    id: str
    seq: int
    task_type: str
    document_id: str | None
    title: str | None
    state: str
    rank: float
    runnable: bool
    yields: bool
    blockers: int = 0
    unmet: int = 0
    max_retries: int = 3
    generation: int = 1
    attempt: int = 0
    attempts_charged: int = 0
    poison_pill: bool = False
    has_lease: bool = False
    cancel_requested: bool = False
    result_token: str | None = None
    result_attempt: int | None = None
    result_echo: str | None = None
    wanted_echo: str | None = None
    error_kind: str | None = None
    parent_id: str | None = None
    position: int | None = None
    on_child_failure: str | None = None
    dag_id: str | None = None
    spawned_by: str | None = None
    spawn_key: str | None = None
    given: Sequence[str] = ()
    """The results of what it spawned and waited for: `token#attempt` of each."""

    @property
    def is_edit(self) -> bool:
        """Whether it is a built-in edit, which leaves a revision instead of marks."""
        return self.task_type == EDIT

    @property
    def may_spawn(self) -> bool:
        """Whether its handler spawns others."""
        return self.task_type in SPAWNERS


@dataclass(frozen=True, slots=True)
class EventRow:
    """One event of one task: written at `at`, seen by others from `committed` on; seconds of the server's clock."""

    position: str
    id: int
    kind: str
    task_id: str
    at: float
    committed: float

    @property
    def xid(self) -> str:
        """The transaction that told of it."""
        return self.position.partition("-")[0]


@dataclass(frozen=True, slots=True)
class FailureRow:
    """One failed attempt."""

    task_id: str
    attempt: int
    worker_id: str | None
    kind: str
    message: str
    ended: float


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """One revision of a document."""

    document_id: str
    revision: int
    base: int
    task_id: str | None


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """One task depends on another."""

    task_id: str
    depends_on: str


@dataclass(frozen=True, slots=True)
class SpawnRow:
    """What a key of a task leads to."""

    spawned_by: str
    key: str
    task_id: str


@dataclass(frozen=True, slots=True)
class DagRow:
    """A DAG as the table has it at the end."""

    id: str
    title: str | None
    status: str
    cancel_requested: bool = False


@dataclass(frozen=True, slots=True)
class DagEventRow:
    """It was told that a DAG has ended like this."""

    id: int
    dag_id: str
    status: str


@dataclass(frozen=True, slots=True)
class Remains:
    """What is left in Redis and of sessions when all is over and every lock's time has run out."""

    hints: int = 0
    locks: tuple[str, ...] = ()
    parked: tuple[str, ...] = ()
    without_ttl: tuple[str, ...] = ()
    sessions: int = 0
    sessions_in_transaction: int = 0


@dataclass(slots=True, kw_only=True)
class Evidence:
    """All of it."""

    terms: Terms
    tasks: dict[str, TaskRow]
    events: list[EventRow]
    failures: list[FailureRow] = field(default_factory=list[FailureRow])
    revisions: list[RevisionRow] = field(default_factory=list[RevisionRow])
    edges: list[EdgeRow] = field(default_factory=list[EdgeRow])
    spawns: list[SpawnRow] = field(default_factory=list[SpawnRow])
    dags: dict[str, DagRow] = field(default_factory=dict[str, DagRow])
    dag_events: list[DagEventRow] = field(default_factory=list[DagEventRow])
    heads: dict[str, int] = field(default_factory=dict[str, int])
    """Which revision each document is at."""
    chapters: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """What the files of documents say."""
    counters: dict[str, int] = field(default_factory=dict[str, int])
    keys: dict[str, str] = field(default_factory=dict[str, str])
    history: list[Operation] = field(default_factory=list[Operation])
    marks: list[Mark] = field(default_factory=list[Mark])
    sightings: list[Sighting] = field(default_factory=list[Sighting])
    struck: list[Struck] = field(default_factory=list[Struck])
    deaths: list[Death] = field(default_factory=list[Death])
    heard: set[str] | None = None
    """The positions of events that a follower was told of; None if nobody followed."""
    odd_of_stream: list[str] = field(default_factory=list[str])
    strangers: Sightings = field(default_factory=Sightings)
    remains: Remains = field(default_factory=Remains)
    redis_lost_at: list[float] = field(default_factory=list[float])
    """When some process found that Redis did not answer in time."""
    locks_taken_away_at: list[float] = field(default_factory=list[float])
    """When the leader released a lock because its holder seemed to be gone."""
    healed_at: float | None = None
    ready_after: float | None = None
    """Seconds from the last healing until every API was ready; None if one never was."""
    quiet_seconds: float = 0.0
    """How long nothing had happened when the end was no longer waited for."""
