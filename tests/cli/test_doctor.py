"""What a doctor makes of the facts."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from officeplane.cli.answers import Readiness
from officeplane.cli.doctor.checks import (
    check_api,
    check_callers,
    check_keys,
    check_plane,
    check_policy,
    check_postgres,
    check_redis,
    check_schema,
    check_settings,
)
from officeplane.cli.doctor.confinement import check_confinement, confinement_here, judge_confinement
from officeplane.cli.doctor.findings import Finding, Verdict, finding_lines, ok, problem, warning, worst
from officeplane.config import Settings
from officeplane.dispatch.doctor import RedisFacts
from officeplane.domain.blockage import Blockage
from officeplane.domain.ids import TaskId, WorkerId
from officeplane.sandbox.confinement import FULL, WITHOUT, Layer, named, offered
from officeplane.store.doctor import Leader, PlaneFacts, PostgresFacts, SchemaFacts, UnresolvedLetters
from officeplane.store.workers import WorkerInfo

POSTGRES = PostgresFacts(
    version_num=180006,
    version="18.6",
    fsync=True,
    full_page_writes=True,
    synchronous_commit="on",
    max_connections=100,
    connections=10,
    is_standby=False,
    role="officeplane_app",
    is_superuser=False,
    may_change_schema=False,
    clock_ahead_seconds=0.01,
)
REDIS = RedisFacts(
    product="Redis",
    version="7.0.15",
    compatible_with=(7, 0, 15),
    role="master",
    maxmemory=0,
    maxmemory_policy="noeviction",
    append_only=False,
    latency_seconds=0.0003,
)
NOW = datetime(2030, 1, 31, tzinfo=UTC)
WORKER = WorkerInfo(
    id=WorkerId("w1"),
    host="here",
    pid=1,
    concurrency=3,
    running=1,
    task_types=("noop",),
    confinement=tuple(Layer),
    started_at=NOW,
    last_seen_at=NOW,
)
CHORES = {"sweeper"}
PLANE = PlaneFacts(
    workers=(WORKER,),
    orphaned_types={},
    leaders=(Leader(chore="sweeper", worker_id="w1", leads=True),),
    overdue_leases=0,
    unresolved_letters=None,
    undelivered_alerts=0,
    held_back={},
    working_keys=1,
)


def amiss(findings: list[Finding]) -> list[tuple[str, Verdict]]:
    """What is not as it should be; every such finding says what to do."""
    found = [finding for finding in findings if finding.verdict is not Verdict.OK]
    assert all(finding.advice for finding in found)
    return [(finding.check, finding.verdict) for finding in found]


def test_workers_are_said_to_be_alive_as_of_when_they_were_heard_last() -> None:
    three, none = replace(WORKER, silent_seconds=3.4), replace(WORKER, silent_seconds=0.0)

    for heard, workers in (("3 s ago", (three,)), ("1 s to 3 s ago", (none, three))):
        (said,) = [one.detail for one in check_plane(replace(PLANE, workers=workers), CHORES) if one.check == "workers"]
        assert said.endswith(f"last heard {heard}.")


def test_a_worker_whose_event_loop_is_blocked_is_a_problem_that_names_the_line() -> None:
    blocked = Blockage(12.0, "acme.py:7", TaskId("01890000-0000-7000-8000-000000000000"), "acme.slow")

    findings = list(check_plane(replace(PLANE, workers=(replace(WORKER, blocked=blocked),)), CHORES))

    assert amiss(findings) == [("event loop", Verdict.PROBLEM)]
    (said,) = [finding.detail for finding in findings if finding.check == "event loop"]
    assert "w1 is blocked for 12 s in task 01890000-0000-7000-8000-000000000000 (acme.slow) at acme.py:7" in said


def test_chores_that_a_blocked_worker_led_are_no_second_problem() -> None:
    blocked = replace(WORKER, blocked=Blockage(12.0, "acme.py:7"))
    stuck = replace(PLANE, workers=(blocked,), leaders=(Leader("sweeper", "w1", leads=False),))

    alone = list(check_plane(stuck, CHORES))
    with_another = list(check_plane(replace(stuck, workers=(blocked, WORKER)), CHORES))

    assert amiss(alone) == [("event loop", Verdict.PROBLEM)]
    (said,) = [finding.detail for finding in alone if finding.check == "event loop"]
    assert "nobody leads sweeper" in said
    # Another worker would have taken them over.
    assert amiss(with_another) == [("event loop", Verdict.PROBLEM), ("chores", Verdict.PROBLEM)]


def test_healthy_servers_are_ok() -> None:
    findings = [
        *check_postgres(POSTGRES),
        *check_redis(REDIS),
        *check_plane(PLANE, CHORES),
        check_schema(SchemaFacts((), None)),
    ]

    assert amiss(findings) == []


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (replace(POSTGRES, version_num=130010, version="13.10"), ("postgres", Verdict.PROBLEM)),
        (replace(POSTGRES, is_standby=True), ("postgres", Verdict.PROBLEM)),
        (replace(POSTGRES, fsync=False), ("durability", Verdict.PROBLEM)),
        (replace(POSTGRES, full_page_writes=False), ("durability", Verdict.PROBLEM)),
        (replace(POSTGRES, synchronous_commit="off"), ("durability", Verdict.PROBLEM)),
        (replace(POSTGRES, clock_ahead_seconds=-6), ("clock", Verdict.WARNING)),
        (replace(POSTGRES, max_connections=10), ("connections", Verdict.WARNING)),
        (replace(POSTGRES, connections=90), ("connections", Verdict.WARNING)),
        (replace(POSTGRES, is_superuser=True), ("database role", Verdict.WARNING)),
        (replace(POSTGRES, may_change_schema=True), ("database role", Verdict.WARNING)),
    ],
)
def test_postgres_is_questioned(facts: PostgresFacts, expected: tuple[str, Verdict]) -> None:
    assert amiss(list(check_postgres(facts))) == [expected]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (replace(REDIS, compatible_with=(6, 2, 14)), ("redis", Verdict.PROBLEM)),
        (replace(REDIS, role="slave"), ("redis", Verdict.PROBLEM)),
        (replace(REDIS, latency_seconds=0.1), ("redis latency", Verdict.WARNING)),
        (replace(REDIS, maxmemory_policy="allkeys-lru"), ("redis memory", Verdict.WARNING)),
        (replace(REDIS, maxmemory_policy="allkeys-lru", maxmemory=1), ("redis memory", Verdict.PROBLEM)),
    ],
)
def test_redis_is_questioned(facts: RedisFacts, expected: tuple[str, Verdict]) -> None:
    assert amiss(list(check_redis(facts))) == [expected]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (replace(PLANE, workers=(), leaders=()), ("workers", Verdict.PROBLEM)),
        (replace(PLANE, orphaned_types={"acme.summarise": 4}), ("task types", Verdict.PROBLEM)),
        (replace(PLANE, leaders=()), ("chores", Verdict.PROBLEM)),
        (replace(PLANE, leaders=(Leader("sweeper", "w0", leads=False),)), ("chores", Verdict.PROBLEM)),
        (replace(PLANE, workers=(WORKER, replace(WORKER, confinement=("seccomp",)))), ("sandbox", Verdict.WARNING)),
        (replace(PLANE, overdue_leases=2), ("leases", Verdict.PROBLEM)),
        (replace(PLANE, unresolved_letters=UnresolvedLetters("f1", "noop", 2, 3)), ("dead letters", Verdict.WARNING)),
        (replace(PLANE, undelivered_alerts=1), ("alerts", Verdict.WARNING)),
    ],
)
def test_work_that_nobody_does_is_found(facts: PlaneFacts, expected: tuple[str, Verdict]) -> None:
    assert amiss(list(check_plane(facts, CHORES))) == [expected]


def test_missing_and_changed_migrations_are_problems() -> None:
    missing = check_schema(SchemaFacts(("0002_plane",), None))
    changed = check_schema(SchemaFacts((), "Migration 0001_tasks was changed"))

    assert amiss([missing, changed]) == [("migrations", Verdict.PROBLEM)] * 2
    assert "0002_plane" in missing.detail


@pytest.mark.parametrize(
    ("readiness", "verdicts"),
    [
        (Readiness(status="ok", dispatch="redis"), []),
        (Readiness(status="degraded", dispatch="polling"), [("api", Verdict.WARNING)]),
        (Readiness(status="unavailable"), [("api", Verdict.PROBLEM)]),
    ],
)
def test_the_api_is_taken_at_its_word(readiness: Readiness, verdicts: list[tuple[str, Verdict]]) -> None:
    assert amiss(list(check_api("http://here", readiness))) == verdicts


def test_it_is_said_which_files_are_let_in() -> None:
    strict, standard = (check_policy(Settings.model_validate({"policy": name})) for name in ("strict", "standard"))

    assert (strict.verdict, standard.verdict) == (Verdict.OK, Verdict.OK)
    assert strict.detail.startswith("Strict: no file is let in that leads to anything elsewhere")
    assert "OfficePlane-Holds" in standard.detail


def test_a_provider_with_which_serve_would_not_start_is_a_problem() -> None:
    given = Settings(database_url="postgresql://x", redis_url="redis://x", oidc_issuer="https://login.example")

    assert amiss(list(check_settings(given))) == [("settings", Verdict.PROBLEM)]
    whole = given.model_copy(update={"oidc_client_id": "office", "oidc_allow": ("group:editors",)})
    assert amiss(list(check_settings(whole))) == []


@pytest.mark.parametrize(
    ("settings", "verdict", "said"),
    [
        (Settings(), Verdict.OK, "this machine needs no key"),
        (Settings(auth="required"), Verdict.OK, "Everybody needs a key"),
        (Settings(auth="off"), Verdict.WARNING, "Nobody is asked for a key"),
    ],
)
def test_it_is_said_who_is_asked_for_a_key(settings: Settings, verdict: Verdict, said: str) -> None:
    found = check_callers(settings)

    assert (found.check, found.verdict) == ("callers", verdict)
    assert said in found.detail


@pytest.mark.parametrize(
    ("settings", "working", "expected"),
    [
        (Settings(), 0, []),
        (Settings(host="10.0.0.7"), 1, []),
        (Settings(host="10.0.0.7"), 0, [("keys", Verdict.WARNING)]),
        (Settings(host="10.0.0.7", auth="off"), 0, []),
        (Settings(auth="required"), 0, [("keys", Verdict.WARNING)]),
        (Settings(auth="required"), 1, []),
    ],
)
def test_a_door_to_which_no_key_fits_is_a_warning(
    settings: Settings, working: int, expected: list[tuple[str, Verdict]]
) -> None:
    assert amiss([check_keys(settings, working)]) == expected


def test_settings_that_do_not_fit_together_are_a_warning() -> None:
    settings = Settings(database_url="postgresql://x", redis_url="redis://x", lease_seconds=6, heartbeat_seconds=5)

    assert amiss(list(check_settings(settings))) == [("settings", Verdict.WARNING)]


def test_nothing_is_said_of_workers_by_an_environment_that_names_no_installation() -> None:
    found = list(check_settings(Settings()))

    assert amiss(found) == [("settings", Verdict.PROBLEM)]
    assert "OFFICEPLANE_DATABASE_URL is not set" in found[0].detail


def test_the_whole_is_as_bad_as_its_worst_part() -> None:
    assert worst([]) is Verdict.OK
    assert worst([ok("a", ""), warning("b", "", "x")]) is Verdict.WARNING
    assert worst([problem("a", "", "x"), warning("b", "", "x")]) is Verdict.PROBLEM


def test_advice_stands_below_its_finding() -> None:
    lines = [line.plain for line in finding_lines([ok("a", "fine"), problem("bb", "broken", "mend it")])]

    assert lines == ["ok      a   fine", "problem bb  broken", "            -> mend it"]


def test_what_is_held_back_is_named() -> None:
    held = {"type noop": "breaker open", "document plan": "paused"}

    (finding,) = [one for one in check_plane(replace(PLANE, held_back=held), {"sweeper"}) if one.check == "held back"]

    assert finding.verdict is Verdict.WARNING
    assert finding.detail == "type noop (breaker open), document plan (paused)."
    assert "and 2 more" in next(
        one.detail
        for one in check_plane(replace(PLANE, held_back={f"type t{n}": "paused" for n in range(12)}), set())
        if one.check == "held back"
    )


ALMOST = tuple(FULL - {Layer.LANDLOCK})


def test_a_sandbox_that_lacks_something_is_told_with_its_host_what_it_lacks_and_what_that_means() -> None:
    workers = (replace(WORKER, host="there", confinement=ALMOST), replace(WORKER, host="there"), WORKER)

    (finding,) = [one for one in check_plane(replace(PLANE, workers=workers), CHORES) if one.check == "sandbox"]

    assert finding.verdict is Verdict.WARNING
    assert finding.detail.startswith("Files are opened without landlock on there: ")
    assert "could read every file that its user may read" in finding.detail


def test_a_worker_is_held_by_what_it_tells_and_an_older_one_tells_nothing() -> None:
    older = replace(WORKER, confinement=None)

    assert judge_confinement([older]).verdict is Verdict.OK
    assert judge_confinement([older, WORKER]).detail == f"Files are opened under {named(Layer)}."
    assert "namespaces" not in judge_confinement([WORKER, replace(WORKER, confinement=tuple(FULL))]).detail


@pytest.mark.parametrize("layer", list(Layer))
def test_of_every_layer_that_is_missing_it_is_said_what_that_means(layer: Layer) -> None:
    found = check_confinement(Settings(), frozenset(Layer) - {layer})

    assert found.verdict is (Verdict.WARNING if layer in FULL else Verdict.OK)
    assert f"ithout {layer}" in found.detail
    assert WITHOUT[layer] in found.detail


def test_where_no_file_is_opened_that_is_a_problem() -> None:
    require = Settings(sandbox="require")

    assert amiss([check_confinement(Settings(), None)]) == [("sandbox here", Verdict.PROBLEM)]
    assert amiss([check_confinement(require, frozenset(Layer) - {Layer.SECCOMP})]) == [
        ("sandbox here", Verdict.PROBLEM)
    ]
    assert amiss([check_confinement(require, FULL)]) == []


async def test_what_holds_a_child_here_is_found_by_having_one_born() -> None:
    here = await confinement_here()

    assert here is not None
    assert here - {Layer.NAMESPACES} == offered()
