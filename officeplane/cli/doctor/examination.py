"""An installation looked at part by part; a part that is not there does not keep the others from being seen."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import structlog
from pydantic import ValidationError

from officeplane.cli.answers import Readiness
from officeplane.cli.client import Client
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
from officeplane.cli.doctor.confinement import check_confinement, confinement_here
from officeplane.cli.doctor.findings import Finding, Verdict, problem, worst
from officeplane.cli.environment import read_settings
from officeplane.cli.exits import ExitCode, RefusedError, StopError, UsageError
from officeplane.cli.ledger import unreachable
from officeplane.cli.texts import without_secrets
from officeplane.config import Settings
from officeplane.dispatch.availability import RedisUnavailable
from officeplane.dispatch.doctor import examine_redis
from officeplane.domain.errors import DatabaseUnavailableError
from officeplane.local import local_installation
from officeplane.store.doctor import connected, examine_plane, examine_schema, examine_server
from workers.maintenance.all_chores import all_chores


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings, and how the command ends for them."""

    findings: Sequence[Finding]
    exit_code: ExitCode


async def examine(url: str) -> Diagnosis:
    """Look at everything that this process's environment leads to."""
    # What the parts log of their failures is said here in the findings.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        settings = read_settings()
    except UsageError as error:
        found = [problem("settings", line, "Correct the environment variable.") for line in error.lines]
        return Diagnosis(found, ExitCode.REFUSED)
    redis, redis_answers = await _examine_redis(settings)
    findings = [
        *check_settings(settings, local_installation()),
        check_callers(settings),
        check_policy(settings),
        check_confinement(settings, await confinement_here()),
    ]
    ledger_answers = True
    if settings.database_url:
        try:
            findings += await _examine_postgres(settings, redis_answers=redis_answers)
        except DatabaseUnavailableError as error:
            findings.append(_postgres_away(settings, error))
            ledger_answers = False
    findings += [*redis, *await _examine_api(url)]
    if not ledger_answers:
        return Diagnosis(findings, ExitCode.UNREACHABLE)
    return Diagnosis(findings, ExitCode.REFUSED if worst(findings) is Verdict.PROBLEM else ExitCode.DONE)


async def _examine_postgres(settings: Settings, *, redis_answers: bool) -> list[Finding]:
    async with connected(settings.database_url) as connection:
        findings = list(check_postgres(await examine_server(connection)))
        schema = check_schema(await examine_schema(connection))
        findings.append(schema)
        if schema.verdict is Verdict.OK:
            chores = {chore.name for chore in all_chores() if redis_answers or not chore.needs_redis}
            plane = await examine_plane(connection, settings.lease_seconds)
            findings += [check_keys(settings, plane.working_keys), *check_plane(plane, chores)]
        return findings


def _postgres_away(settings: Settings, error: DatabaseUnavailableError) -> Finding:
    return problem(
        "postgres",
        unreachable(settings, error).lines[0],
        "Start it, or correct OFFICEPLANE_DATABASE_URL.",
    )


async def _examine_redis(settings: Settings) -> tuple[list[Finding], bool]:
    """Return what was found, and whether Redis answers at all."""
    if not settings.redis_url:
        return [], False
    try:
        return list(check_redis(await examine_redis(settings))), True
    except RedisUnavailable as error:
        away = problem(
            "redis",
            f"No answer from {without_secrets(settings.redis_url)}: {error}",
            "Start it, or correct OFFICEPLANE_REDIS_URL; until then work is found by polling, nothing is lost.",
        )
        return [away], False


async def _examine_api(url: str) -> list[Finding]:
    try:
        async with Client(url) as client:
            answer = await client.get("/api/health/ready")
        return list(check_api(url, Readiness.model_validate_json(answer.content)))
    except RefusedError as error:
        return [problem("api", f"{error.lines[0]}, at {url}.", "See the log of `officeplane serve`.")]
    except UsageError as error:
        return [problem("api", error.lines[0], "Correct it.")]
    except StopError as error:
        return [problem("api", error.lines[0], "Start it with `officeplane serve`, or say where it is with --url.")]
    except ValidationError:
        return [problem("api", f"What answers at {url} is not OfficePlane.", "Say where it is with --url.")]
