"""The composition root: every service of a process, opened and closed in one place."""

import os
import socket
from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Final

import structlog
from uuid_utils import uuid4

from officeplane import failpoints
from officeplane.config import Settings
from officeplane.cores import cores
from officeplane.dispatch.doorbell import Doorbell, open_doorbell
from officeplane.domain.document import Policy
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.domain.ids import WorkerId
from officeplane.domain.outcome import RetryRules
from officeplane.domain.retry import RetryPolicy
from officeplane.grouping import background
from officeplane.handlers.catalogue import Catalogue, installed_handlers, load_catalogue
from officeplane.sandbox.confinement import FULL, Confinement
from officeplane.sandbox.converter import Converter
from officeplane.sandbox.pool import Sandbox
from officeplane.sandbox.turns import Queue
from officeplane.services.access.api_keys import ApiKeys
from officeplane.services.access.authentication import Authentication
from officeplane.services.access.login_links import LoginLinks
from officeplane.services.access.sessions import Sessions
from officeplane.services.access.spaces import Spaces
from officeplane.services.agents.agent_claims import ClaimVerbs
from officeplane.services.agents.claiming import Claiming
from officeplane.services.agents.completion import Completions
from officeplane.services.agents.heartbeats import Heartbeats
from officeplane.services.agents.offering import Offering
from officeplane.services.agents.payloads import Payloads
from officeplane.services.agents.registry import Agents
from officeplane.services.agents.waiting import Waiting
from officeplane.services.chores.deliveries import Deliveries
from officeplane.services.chores.ranks import Ranks
from officeplane.services.chores.redelivery import Redelivery
from officeplane.services.chores.retention import Retention
from officeplane.services.chores.valve_timers import ValveTimers
from officeplane.services.claims.desk import WorkerDesk
from officeplane.services.claims.kernel import Claims
from officeplane.services.claims.leases import Leases
from officeplane.services.dags.dags import Dags
from officeplane.services.documents.document_reading import DocumentReading
from officeplane.services.documents.documents import Documents
from officeplane.services.documents.representations import Representations
from officeplane.services.edits.edit_bases import EditBaseCache
from officeplane.services.edits.editing import Editing
from officeplane.services.observe.audit import Audit
from officeplane.services.observe.events import Events
from officeplane.services.observe.explanation import Explanations
from officeplane.services.observe.health import Checkup
from officeplane.services.observe.long_poll import LongPoll
from officeplane.services.observe.observations import Meter
from officeplane.services.observe.statistics import Statistics
from officeplane.services.observe.tasks import Tasks
from officeplane.services.operate.cancellation import Cancellation
from officeplane.services.operate.dead_letters import DeadLetters
from officeplane.services.operate.patches import Patches
from officeplane.services.operate.reopening import Reopening
from officeplane.services.operate.selection import Selection
from officeplane.services.operate.valves import Valves
from officeplane.services.settle.dead_letters import DeadLetterWriter
from officeplane.services.settle.settlements import Settlements
from officeplane.services.submit.spawns import TaskSpawner
from officeplane.services.submit.submission import Submission
from officeplane.services.submit.task_types import TaskTypes
from officeplane.store.claims import Claimant
from officeplane.store.connection import Ledger, open_ledger

LEDGER_CONNECTIONS: Final = 8
_log = structlog.stdlib.get_logger(__name__)
READERS: Final = Queue(length_max=64, seconds_max=30.0)
"""Who may wait for a sandboxed child on behalf of callers over HTTP."""
API: Final = "api"
"""In whose name the tasks are counted that end without a worker."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What an API process or an application works with."""

    settings: Settings
    ledger: Ledger
    doorbell: Doorbell
    catalogue: Catalogue
    task_types: TaskTypes
    sandbox: Sandbox
    submission: Submission
    claims: Claims
    settlements: Settlements
    claim_verbs: ClaimVerbs
    heartbeats: Heartbeats
    tasks: Tasks
    long_poll: LongPoll
    cancellation: Cancellation
    reopening: Reopening
    selection: Selection
    dags: Dags
    dead_letters: DeadLetters
    patches: Patches
    explanations: Explanations
    valves: Valves
    events: Events
    health: Checkup
    statistics: Statistics
    documents: Documents
    reading: DocumentReading
    representations: Representations
    api_keys: ApiKeys
    spaces: Spaces
    authentication: Authentication
    sessions: Sessions
    login_links: LoginLinks
    agents: Agents
    claiming: Claiming
    waiting: Waiting
    audit: Audit


@dataclass(frozen=True, slots=True)
class WorkerServices:
    """What a worker process works with besides."""

    worker_id: WorkerId
    meter: Meter
    desk: WorkerDesk
    leases: Leases
    editing: Editing
    spawner: TaskSpawner
    redelivery: Redelivery
    ranks: Ranks
    retention: Retention
    deliveries: Deliveries
    valve_timers: ValveTimers

    def counted_by(self, part: int) -> str:
        """In whose name a part of this worker counts what it settles; in the same row, one would wait for another."""
        return f"{self.worker_id}/{part}"


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    handlers: Iterable[ModuleType | str] = (),
    *,
    for_worker: bool = False,
    ledger: Ledger | None = None,
    sandbox: Sandbox | None = None,
) -> AsyncGenerator[Runtime, None]:
    """Open everything; Redis may be down, Postgres must answer. A ledger or a sandbox that is given stays open."""
    if not settings.database_url:
        message = "OFFICEPLANE_DATABASE_URL is not set, and no `officeplane up` runs in this folder or above it."
        raise DatabaseUnavailableError(message)
    failpoints.arm(settings.failpoints, settings.failpoints_seed)
    async with AsyncExitStack() as stack:
        catalogue = load_catalogue((*settings.handlers, *handlers))
        for found in installed_handlers():
            _log.info("handlers.loaded", module=found.module, package=found.package, place=found.place)
        if ledger is None:
            ledger = await stack.enter_async_context(
                open_ledger(settings.database_url, connections=LEDGER_CONNECTIONS, plans_once=for_worker)
            )
        doorbell = await stack.enter_async_context(open_doorbell(settings))
        required: Confinement = FULL if settings.sandbox == "require" else frozenset()
        if sandbox is None:
            sandbox = Sandbox(
                _children_at_once(),
                # A worker's requests are bounded by its slots, and have their attempts' time.
                None if for_worker else READERS,
                required=required,
                policy=Policy(settings.policy),
            )
            stack.push_async_callback(sandbox.close)
        tasks = Tasks(ledger)
        letters = DeadLetterWriter(API, alerts=bool(settings.alert_url))
        task_types = TaskTypes(ledger, catalogue)
        spaces = Spaces(ledger)
        submission = Submission(ledger, doorbell, task_types, letters, spaces)
        long_poll = LongPoll(ledger, doorbell, tasks, settings.poll_seconds)
        reopening = Reopening(ledger, doorbell, letters)
        cancellation = Cancellation(ledger, doorbell, letters)
        settlements = Settlements(ledger, doorbell, _retry_rules(settings), catalogue.own_seconds)
        payloads = Payloads(ledger, doorbell, settlements, counted_by=API)
        claiming = Claiming(ledger, Offering(settings.agent_lease_seconds), payloads)
        completions = Completions(Editing(ledger, sandbox, EditBaseCache()))
        runtime = Runtime(
            settings=settings,
            ledger=ledger,
            doorbell=doorbell,
            catalogue=catalogue,
            task_types=task_types,
            sandbox=sandbox,
            submission=submission,
            claims=Claims(ledger),
            settlements=settlements,
            claim_verbs=ClaimVerbs(
                ledger,
                doorbell,
                settlements,
                completions,
                counted_by=API,
                lease_seconds=settings.agent_lease_seconds,
            ),
            heartbeats=Heartbeats(ledger, lease_seconds=settings.agent_lease_seconds),
            tasks=tasks,
            long_poll=long_poll,
            cancellation=cancellation,
            reopening=reopening,
            selection=Selection(ledger, cancellation, reopening),
            dags=Dags(ledger, doorbell, submission, letters),
            dead_letters=DeadLetters(ledger, doorbell, reopening, task_types, letters),
            patches=Patches(ledger, doorbell),
            explanations=Explanations(ledger, tasks, settings.lease_seconds),
            valves=Valves(ledger, doorbell, task_types, settings.breaker_half_open_after),
            events=Events(ledger),
            health=Checkup(ledger, doorbell, settings.lease_seconds),
            statistics=Statistics(ledger, doorbell, catalogue, settings.lease_seconds),
            documents=Documents(ledger, sandbox, submission, cancellation, long_poll, spaces),
            reading=DocumentReading(ledger, sandbox),
            representations=Representations(ledger, sandbox, Converter(required)),
            api_keys=ApiKeys(ledger),
            spaces=spaces,
            authentication=Authentication(ledger),
            sessions=Sessions(ledger),
            login_links=LoginLinks(ledger),
            agents=Agents(ledger, task_types, spaces, settings.agent_lease_seconds),
            claiming=claiming,
            waiting=Waiting(ledger, claiming),
            audit=Audit(ledger),
        )
        if not for_worker:
            # In a worker nobody submits by groups, waits for tasks or follows events; and what
            # every worker announces, each would hear of all others.
            await stack.enter_async_context(
                background(
                    runtime.submission.group.run,
                    runtime.submission.dependents.run,
                    runtime.long_poll.listen,
                    runtime.long_poll.poll,
                    runtime.waiting.probe,
                    runtime.heartbeats.watch,
                    runtime.events.read,
                    runtime.authentication.note_uses,
                )
            )
        yield runtime


def worker_services(runtime: Runtime) -> WorkerServices:
    """Return the services of one worker process, under an id that never comes back."""
    settings, ledger, doorbell = runtime.settings, runtime.ledger, runtime.doorbell
    worker_id = WorkerId(f"worker:{_process_id()}")
    edit_bases = EditBaseCache()
    editing = Editing(ledger, runtime.sandbox, edit_bases)

    meter = Meter()
    who = Claimant(worker_id, settings.lease_seconds, runtime.catalogue.runnable, may_take_suspect=True)
    redelivery = Redelivery(
        ledger,
        doorbell,
        runtime.settlements,
        runtime.catalogue.runnable,
        counted_by=worker_id,
        heartbeat_seconds=settings.heartbeat_seconds,
        lease_seconds=settings.lease_seconds,
        alerts=bool(settings.alert_url),
    )
    return WorkerServices(
        worker_id=worker_id,
        meter=meter,
        desk=WorkerDesk(ledger, doorbell, runtime.claims, who, meter, editing.lookahead, edit_bases),
        leases=Leases(ledger),
        editing=editing,
        spawner=TaskSpawner(ledger, runtime.submission),
        redelivery=redelivery,
        ranks=Ranks(ledger, doorbell),
        retention=Retention(
            ledger,
            settings.retention_completed_days,
            settings.retention_failed_days,
            settings.retention_audit_days,
        ),
        deliveries=Deliveries(ledger, settings.alert_url),
        valve_timers=ValveTimers(ledger, doorbell, redelivery, settings.lease_seconds),
    )


def _retry_rules(settings: Settings) -> RetryRules:
    return RetryRules(
        RetryPolicy(initial_seconds=settings.retry_initial_seconds, multiplier=settings.retry_multiplier),
        settings.poison_crashes,
        alerts=bool(settings.alert_url),
        failure_threshold=settings.breaker_failure_threshold,
        half_open_after_seconds=settings.breaker_half_open_after,
    )


def _children_at_once() -> int:
    """Return how many sandboxed children a process may have: what they do is computing."""
    return max(2, cores())


def _process_id() -> str:
    return f"{socket.gethostname()}:{os.getpid()}:{str(uuid4())[:8]}"
