"""What the facts about Postgres, Redis and the API mean; pure."""

from collections.abc import Iterator, Sequence

from officeplane.cli.answers import Readiness
from officeplane.cli.callers import listens_beyond
from officeplane.cli.doctor.confinement import judge_confinement
from officeplane.cli.doctor.findings import Finding, ok, problem, warning
from officeplane.cli.texts import span
from officeplane.config import Settings
from officeplane.dispatch.doctor import RedisFacts
from officeplane.local import LocalInstallation
from officeplane.services.access.oidc import OidcSettingError, oidc_of
from officeplane.store.doctor import PlaneFacts, PostgresFacts, SchemaFacts
from officeplane.store.workers import WorkerInfo

POSTGRES_OLDEST = 14
REDIS_OLDEST = (7, 0)
CLOCK_SECONDS = 5.0
CONNECTIONS_FEWEST = 20
CONNECTIONS_USED = 0.8
LATENCY_SECONDS = 0.02
HEARTBEATS_IN_LEASE = 3
HELD_SHOWN = 10


def check_settings(settings: Settings, local: LocalInstallation | None = None) -> Iterator[Finding]:
    """Look for settings that are legal one by one and bad together; `local` is where they come from, if found here."""
    if not settings.database_url:
        yield problem(
            "settings",
            "OFFICEPLANE_DATABASE_URL is not set: Postgres and the workers cannot be examined.",
            "Set it, for example to postgresql://user:password@host:5432/officeplane, "
            "or come to the folder in which `officeplane up` was started.",
        )
    elif local is not None and local.database_url == settings.database_url:
        yield ok("settings", f"This is the installation of `officeplane up` in {local.data_dir}.")
    else:
        yield ok("settings", "The environment can be read.")
    if settings.database_url and not settings.redis_url:
        yield warning(
            "settings",
            "OFFICEPLANE_REDIS_URL is not set: workers look into Postgres every second instead of being called.",
            "Set it to a Redis 7 or Valkey, such as redis://host:6379/0; work then starts within milliseconds.",
        )
    if settings.lease_seconds < HEARTBEATS_IN_LEASE * settings.heartbeat_seconds:
        yield warning(
            "settings",
            f"A lease of {settings.lease_seconds:g} s ends after fewer than {HEARTBEATS_IN_LEASE} missed "
            f"heartbeats ({settings.heartbeat_seconds:g} s apart): a slow moment looks like a dead worker.",
            "Raise OFFICEPLANE_LEASE_SECONDS or lower OFFICEPLANE_HEARTBEAT_SECONDS.",
        )
    try:
        oidc_of(settings)
    except OidcSettingError as error:
        yield problem(
            "settings", str(error), "Set it, or leave OFFICEPLANE_OIDC_ISSUER out: so `serve` does not start."
        )


def check_callers(settings: Settings) -> Finding:
    """Say who is asked for a key."""
    match settings.auth:
        case "auto":
            return ok("callers", "Who calls from this machine needs no key, everybody else does.")
        case "required":
            return ok("callers", "Everybody needs a key.")
        case "off":
            return warning(
                "callers",
                "Nobody is asked for a key: whoever reaches the port may do everything.",
                "Set OFFICEPLANE_AUTH=auto, and make keys: `officeplane keys create NAME --scope edit`.",
            )


def check_policy(settings: Settings) -> Finding:
    """Say which files are let in."""
    match settings.policy:
        case "strict":
            return ok("policy", "Strict: no file is let in that leads to anything elsewhere or holds another document.")
        case "standard":
            return ok(
                "policy",
                "Standard: links to pictures and workbooks, and documents in documents, are let in and kept; downloads "
                "say so in OfficePlane-Holds.",
            )


def check_keys(settings: Settings, working: int) -> Finding:
    """Look whether those who need a key can have one."""
    if working or settings.auth == "off" or (settings.auth == "auto" and not listens_beyond(settings)):
        return ok("keys", f"{working} work.")
    return warning(
        "keys",
        f"None works: nobody gets in{' from elsewhere' if settings.auth == 'auto' else ''} at {settings.host}.",
        "Make one: `officeplane keys create NAME --scope admin`.",
    )


def check_postgres(facts: PostgresFacts) -> Iterator[Finding]:
    """Look for what would lose work or refuse connections."""
    if facts.version_num < POSTGRES_OLDEST * 10_000:
        yield problem("postgres", f"Version {facts.version} is too old.", f"Upgrade to Postgres {POSTGRES_OLDEST}+.")
    else:
        yield ok("postgres", f"Postgres {facts.version} answers.")
    if facts.is_standby:
        yield problem("postgres", "This server is a standby: it takes no writes.", "Name the primary in the URL.")
    yield from _judge_durability(facts)
    yield _judge_role(facts)
    yield _judge_clock(facts.clock_ahead_seconds)
    yield _judge_connections(facts)


def check_schema(facts: SchemaFacts) -> Finding:
    """Look for migrations that were not applied."""
    if facts.changed is not None:
        return problem("migrations", facts.changed, "Install the version of officeplane that this database belongs to.")
    if facts.pending:
        return problem("migrations", f"Not applied: {', '.join(facts.pending)}.", "Run `officeplane migrate`.")
    return ok("migrations", "Up to date.")


def check_redis(facts: RedisFacts) -> Iterator[Finding]:
    """Look for what would slow work down or drop locks."""
    if facts.compatible_with < REDIS_OLDEST:
        yield problem("redis", f"{facts.product} {facts.version} is too old.", "Upgrade to Redis 7.0+ or Valkey.")
    else:
        yield ok("redis", f"{facts.product} {facts.version} answers in {span(facts.latency_seconds)}.")
    if facts.role not in {"master", ""}:
        yield problem("redis", f"This server is a {facts.role}: it takes no writes.", "Name the primary in the URL.")
    if facts.latency_seconds > LATENCY_SECONDS:
        yield warning("redis latency", f"A round trip takes {span(facts.latency_seconds)}.", "Move Redis closer.")
    yield _judge_eviction(facts)
    persistence = "appends to disk" if facts.append_only else "keeps no log on disk"
    yield ok("redis persistence", f"It {persistence}; either is fine, what it forgets is rung again from Postgres.")


def check_api(url: str, readiness: Readiness) -> Iterator[Finding]:
    """Look at what the API says of its own connections."""
    if readiness.status not in {"ok", "degraded"}:
        yield problem("api", f"{url} answers that it is {readiness.status}.", "See the log of `officeplane serve`.")
    elif readiness.dispatch == "polling":
        yield warning(
            "api",
            f"{url} is ready but does not reach Redis: new tasks are found by polling.",
            "Set OFFICEPLANE_REDIS_URL for `officeplane serve`, or see why Redis does not answer it.",
        )
    else:
        yield ok("api", f"{url} is ready.")


def check_plane(facts: PlaneFacts, chores: set[str]) -> Iterator[Finding]:
    """Look for work that nobody will do; `chores` are those that somebody should lead."""
    if facts.workers:
        slots = sum(worker.concurrency for worker in facts.workers)
        running = sum(worker.running for worker in facts.workers)
        heard = _last_heard([worker.silent_seconds for worker in facts.workers])
        yield ok(
            "workers", f"{len(facts.workers)} alive with {slots} slots, {running} of them busy; last heard {heard}."
        )
        yield judge_confinement(facts.workers)
    else:
        yield problem("workers", "No worker is alive: tasks wait.", "Start one with `officeplane worker`.")
    idle_chores = sorted(chores.difference(leader.chore for leader in facts.leaders if leader.leads))
    # A worker that is free takes them over; without one they wait for what is told of workers anyway.
    is_one_free = any(worker.blocked is None for worker in facts.workers)
    yield from _judge_loops(facts.workers, [] if is_one_free else idle_chores)
    for task_type, waiting in facts.orphaned_types.items() if facts.workers else ():
        yield problem(
            "task types",
            f"{waiting} waiting of type {task_type}, which no live worker knows.",
            "Start a worker that loads its module: `officeplane worker --handlers MODULE`.",
        )
    yield from _judge_held(facts)
    if is_one_free or not idle_chores:
        yield _judge_chores(facts, idle_chores)
    yield from _judge_leases(facts)
    yield from _judge_letters(facts)


def _judge_loops(workers: Sequence[WorkerInfo], waiting_chores: Sequence[str]) -> Iterator[Finding]:
    besides = f", and nobody leads {', '.join(waiting_chores)}" if waiting_chores else ""
    for worker in workers:
        if worker.blocked is not None:
            yield problem(
                "event loop",
                f"That of worker {worker.id} is {worker.blocked}: nothing in that worker moves{besides}.",
                "It ends itself when the time of a task in it is over. Do not block in an `async def`: "
                "await, or make the handler a plain `def`.",
            )


def _judge_durability(facts: PostgresFacts) -> Iterator[Finding]:
    lax = [name for name, is_on in (("fsync", facts.fsync), ("full_page_writes", facts.full_page_writes)) if not is_on]
    if facts.synchronous_commit == "off":
        lax.append("synchronous_commit")
    if lax:
        yield problem(
            "durability",
            f"Off: {', '.join(lax)}. A crash loses work that was accepted.",
            "Turn it on, unless this is a test server.",
        )
    else:
        yield ok("durability", "What is committed is on disk.")


def _judge_role(facts: PostgresFacts) -> Finding:
    if not (facts.is_superuser or facts.may_change_schema):
        return ok("database role", f"{facts.role} reads and writes rows and nothing else.")
    power = "is a superuser" if facts.is_superuser else "may change the schema"
    return warning(
        "database role",
        f"{facts.role} {power}: whoever gets hold of its URL has more than the rows.",
        "Name the owner in OFFICEPLANE_OWNER_URL, another role in OFFICEPLANE_DATABASE_URL, and run "
        "`officeplane migrate`, which makes it.",
    )


def _judge_clock(ahead_seconds: float) -> Finding:
    apart = f"{span(abs(ahead_seconds))} {'ahead of' if ahead_seconds > 0 else 'behind'} this machine's"
    if abs(ahead_seconds) > CLOCK_SECONDS:
        return warning("clock", f"The clock of Postgres is {apart}.", "Let both machines use NTP.")
    return ok("clock", f"The clock of Postgres is {apart}.")


def _judge_connections(facts: PostgresFacts) -> Finding:
    used = f"{facts.connections} of {facts.max_connections} connections in use"
    if facts.max_connections < CONNECTIONS_FEWEST or facts.connections > CONNECTIONS_USED * facts.max_connections:
        return warning(
            "connections", f"{used}.", "Raise max_connections, or run fewer processes: each keeps up to a dozen."
        )
    return ok("connections", f"{used}.")


def _judge_eviction(facts: RedisFacts) -> Finding:
    if facts.maxmemory_policy in {"noeviction", ""}:
        return ok("redis memory", "It never drops a lock or a waiting id to save memory.")
    said = f"maxmemory-policy is {facts.maxmemory_policy}"
    if facts.maxmemory == 0:
        return warning(
            "redis memory", f"{said}; harmless only as long as there is no maxmemory.", "Set it to noeviction."
        )
    return problem("redis memory", f"{said}: locks and waiting ids may be dropped.", "Set it to noeviction.")


def _judge_chores(facts: PlaneFacts, idle_chores: Sequence[str]) -> Finding:
    if not idle_chores:
        leading = {leader.worker_id for leader in facts.leaders if leader.leads}
        return ok("chores", f"Led by {', '.join(sorted(leading))}.")
    return problem(
        "chores",
        f"Nobody leads {', '.join(idle_chores)}: lost work is not found again.",
        "A worker takes over within seconds; if this stays, see the workers' logs.",
    )


def _judge_leases(facts: PlaneFacts) -> Iterator[Finding]:
    if facts.overdue_leases:
        yield problem(
            "leases",
            f"{facts.overdue_leases} attempts of workers long gone are still not ended.",
            "A live worker ends them; see `workers` and `chores`.",
        )


def _last_heard(silent_seconds: Sequence[float]) -> str:
    """Say how long ago; a worker that was killed a moment ago is among them until its time is over."""
    latest, first = (
        span(int(seconds)) if seconds >= 1 else "1 s" for seconds in (min(silent_seconds), max(silent_seconds))
    )
    return f"{latest} ago" if latest == first else f"{latest} to {first} ago"


def _judge_held(facts: PlaneFacts) -> Iterator[Finding]:
    if not facts.held_back:
        yield ok("held back", "Nothing is paused, every breaker is closed.")
        return
    shown = [f"{what} ({how})" for what, how in list(facts.held_back.items())[:HELD_SHOWN]]
    more = "" if len(facts.held_back) <= HELD_SHOWN else f" and {len(facts.held_back) - HELD_SHOWN} more"
    yield warning(
        "held back",
        f"{', '.join(shown)}{more}.",
        "A breaker closes by itself once a task of its type succeeds; what is paused waits for POST .../resume.",
    )


def _judge_letters(facts: PlaneFacts) -> Iterator[Finding]:
    unresolved = facts.unresolved_letters
    if unresolved is None:
        yield ok("dead letters", "None is unresolved.")
    else:
        yield warning(
            "dead letters",
            f"{unresolved.in_all} unresolved; most of one cause: {unresolved.letters} of type {unresolved.task_type}, "
            f"fingerprint {unresolved.fingerprint}.",
            f"Look with `officeplane dead-letters list --fingerprint {unresolved.fingerprint}`, then `resolve` them.",
        )
    if facts.undelivered_alerts:
        yield warning(
            "alerts",
            f"{facts.undelivered_alerts} could not be delivered so far.",
            "See `alert.not_sent` in the workers' logs, and OFFICEPLANE_ALERT_URL.",
        )
