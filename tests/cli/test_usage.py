"""Help, mistakes and servers that are not there: what needs no installation."""

import asyncio
import json
import re
import socket
import sys

import pytest

from officeplane.cli.environment import read_settings
from officeplane.cli.exits import UsageError
from officeplane.cli.problems import problem_lines
from officeplane.config import Settings
from tests.cli.conftest import ROOT, Officeplane

NOBODY = "http://127.0.0.1:9"
"""The discard port: nothing of ours listens there."""

COMMANDS = (
    "up",
    "serve",
    "worker",
    "migrate",
    "doctor",
    "tasks",
    "dags",
    "dead-letters",
    "keys",
    "login-link",
    "types",
    "audit",
)

HEAVY = {"asyncpg", "fastapi", "httpx", "pydantic", "redis", "uvicorn"}


async def test_help_names_every_command(program: Officeplane) -> None:
    ended = await program("--help")

    assert ended.code == 0
    for command in COMMANDS:
        assert f" {command} " in ended.out


async def test_help_is_quick_because_it_imports_nothing_heavy() -> None:
    look = "import officeplane.cli.main, json, sys; print(json.dumps(sorted(sys.modules)))"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", look, stdout=asyncio.subprocess.PIPE)

    out, _ = await process.communicate()

    assert HEAVY & set(json.loads(out)) == set()


async def test_the_version_is_that_of_the_package(program: Officeplane) -> None:
    ended = await program("--version")

    assert ended.code == 0
    assert ended.out.startswith("officeplane ")


async def test_it_runs_as_a_module_too() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "officeplane.cli.main", "--version", stdout=asyncio.subprocess.PIPE
    )

    out, _ = await process.communicate()

    assert process.returncode == 0
    assert out.startswith(b"officeplane ")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["tasks", "list", "--limit", "0"],
        ["tasks", "watch"],
        ["dead-letters", "resolve", "--as", "retry"],
        ["dead-letters", "resolve", "some-id", "--fingerprint", "f", "--as", "retry"],
        ["dead-letters", "resolve", "some-id"],
        ["dead-letters", "resolve", "some-id", "--as", "modify_and_retry", "--payload", "{"],
        ["tasks", "watch", "--all", "some-id"],
        ["tasks", "submit"],
        ["tasks", "submit", "noop", "--body", "{}"],
        ["tasks", "submit", "--body", "[]", "--key", "x"],
        ["tasks", "submit", "noop", "--payload", "{"],
        ["tasks", "submit", "noop", "--payload", "@/no/such/file"],
        ["tasks", "list", "--url", "nonsense"],
        ["audit", "--since", "yesterday"],
        ["audit", "--until", "2030-01-01T00:00:00"],
        ["serve", "--port", "99999"],
    ],
)
async def test_a_command_that_makes_no_sense_ends_with_2(officeplane: Officeplane, arguments: list[str]) -> None:
    ended = await officeplane(*arguments)

    assert ended.code == 2
    assert ended.out == ""
    assert ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", ["serve", "worker", "migrate"])
async def test_without_a_database_a_command_says_what_to_set(program: Officeplane, command: str) -> None:
    ended = await program(command)

    assert ended.code == 2
    assert ended.err.startswith("OFFICEPLANE_DATABASE_URL is not set.\n")


@pytest.mark.parametrize("command", ["serve", "worker", "migrate"])
async def test_a_setting_that_cannot_be_read_is_named(officeplane: Officeplane, command: str) -> None:
    ended = await officeplane(command, env={"OFFICEPLANE_LEASE_SECONDS": "soon"})

    assert ended.code == 2
    assert ended.err.startswith("OFFICEPLANE_LEASE_SECONDS: ")
    assert "soon" not in ended.err.split(": ", 1)[0]


@pytest.mark.parametrize("setting", ["drain_seconds", "lease_seconds", "poll_seconds", "retry_multiplier"])
def test_a_time_without_an_end_is_refused(setting: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_settings(**{setting: "inf"})

    assert refused.value.lines == (f"OFFICEPLANE_{setting.upper()}: Input should be a finite number",)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("allowed_hosts", "office.example:8001"),
        ("allowed_hosts", "https://office.example"),
        ("allowed_hosts", "*.example"),
        ("allowed_hosts", "ⓛocalhost"),
        ("allowed_hosts", "cafe:8001"),
        ("allowed_hosts", "10.0.0.7:80"),
        ("allowed_hosts", "office..example"),
        ("allowed_hosts", ".example"),
        ("allowed_hosts", "fe80::1%eth0"),
        ("allowed_hosts", "[10.0.0.7]"),
        ("allowed_origins", "*"),
        ("allowed_origins", "app.example"),
        ("allowed_origins", "https://app.example/"),
        ("allowed_origins", "null"),
        ("allowed_origins", "http://app..example"),
        ("allowed_origins", "http://[:::]"),
        ("allowed_origins", "http://[10.0.0.7]"),
        ("allowed_origins", "https://app.example:65536"),
    ],
)
def test_a_host_or_origin_that_would_never_match_is_refused_with_an_example(setting: str, value: str) -> None:
    with pytest.raises(UsageError) as refusal:
        read_settings(**{setting: value})

    assert f"OFFICEPLANE_{setting.upper()}: It must be" in str(refusal.value)
    assert "example.org" in str(refusal.value)


@pytest.mark.parametrize(
    "issuer",
    [
        "login.example",
        "http://login.example",
        "ftp://login.example",
        "https://",
        "https://login.example/?realm=a",
        "https://login.example/#a",
        "https://me:secret@login.example",
        "https://[:::]",
        "http://localhost.evil.example",
    ],
)
def test_a_provider_whose_word_others_could_change_is_refused_with_an_example(issuer: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_settings(oidc_issuer=issuer)

    (line,) = refused.value.lines
    assert line.startswith("OFFICEPLANE_OIDC_ISSUER: It must be like https://login.example.org")
    assert "secret" not in line


@pytest.mark.parametrize(
    "issuer", ["https://login.example", "https://login.example:8443/realms/a/", "http://127.0.0.1:5556/dex"]
)
def test_a_provider_is_named_as_it_is(issuer: str) -> None:
    assert read_settings(oidc_issuer=issuer).oidc_issuer == issuer


def test_every_setting_has_a_row_where_they_are_described() -> None:
    page = (ROOT / "docs/operating.md").read_text(encoding="utf-8")

    described = re.findall(r"^\| `OFFICEPLANE_(\w+)` \|", page, re.MULTILINE)

    assert sorted(described) == sorted(name.upper() for name in Settings.model_fields)


@pytest.mark.parametrize(
    "host", ["office.example", "Office", "10.0.0.7", "fd00::7", "[fd00::7]", "office_1.example.", "*"]
)
def test_a_host_that_can_match_is_taken(host: str) -> None:
    assert read_settings(allowed_hosts=host).allowed_hosts == (host,)


async def test_an_address_for_alerts_that_is_none_is_refused_before_anything_is_lost(officeplane: Officeplane) -> None:
    ended = await officeplane("worker", env={"OFFICEPLANE_ALERT_URL": "ftp://user:secret@alerts"})

    assert ended.code == 2
    assert ended.err.startswith("OFFICEPLANE_ALERT_URL: ")
    assert "secret" not in ended.err


@pytest.mark.parametrize(
    ("setting", "url"),
    [
        ("database_url", "postgresql://me:sec/ret@127.0.0.1:9/plane"),
        ("database_url", "postgresql://me:sec#ret@127.0.0.1:9/plane"),
        ("database_url", "postgresql://me:sec@ret@127.0.0.1:9/plane"),
        ("database_url", "postgresql://me:secret@127.0.0.1:99999/plane"),
        ("database_url", "postgresql://me:secret@127.0.0.1:9/plane?sslmode"),
        ("database_url", "mysql://me:secret@127.0.0.1:9/plane"),
        ("redis_url", "redis://:sec/ret@127.0.0.1:9/0"),
        ("redis_url", "127.0.0.1:6379"),
    ],
)
def test_a_url_that_cannot_be_read_is_named_and_not_shown(setting: str, url: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_settings(**{setting: url})

    (line,) = refused.value.lines
    assert line.startswith(f"OFFICEPLANE_{setting.upper()}: It must be like ")
    assert "sec" not in line
    assert "ret" not in line


@pytest.mark.parametrize(
    ("setting", "url"),
    [
        ("database_url", "postgres://me:sec%2Fret@one:5432,two/plane?target_session_attrs=read-write"),
        ("database_url", "postgresql://[::1]:5432/plane"),
        ("database_url", "postgresql:///plane?host=/run/postgresql"),
        ("redis_url", "rediss://:se@cret@cache:6379/0"),
        ("redis_url", "unix:///run/valkey.sock?db=1"),
    ],
)
def test_a_url_that_a_driver_can_read_is_taken_as_it_is(setting: str, url: str) -> None:
    assert read_settings(**{setting: url}).model_dump()[setting] == url


async def test_doctor_names_a_url_that_cannot_be_read(officeplane: Officeplane) -> None:
    ended = await officeplane("doctor", env={"OFFICEPLANE_DATABASE_URL": "postgresql://me:sec/ret@127.0.0.1:9/plane"})

    assert ended.code == 1
    assert ended.out.startswith("problem settings  OFFICEPLANE_DATABASE_URL: It must be like postgresql://")
    assert "ret@" not in ended.out + ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "--json"],
        ["cancel", "some-id"],
        ["submit", "noop"],
        ["watch", "some-id"],
        ["watch", "--all", "--json"],
    ],
)
async def test_an_api_that_is_not_there_ends_with_3_and_says_where_it_was_sought(
    officeplane: Officeplane, arguments: list[str]
) -> None:
    ended = await officeplane("tasks", *arguments, env={"OFFICEPLANE_URL": NOBODY})

    assert ended.code == 3
    assert ended.out == ""
    assert NOBODY in ended.err
    assert "officeplane up" in ended.err


async def test_migrate_ends_with_3_when_postgres_is_not_there(officeplane: Officeplane) -> None:
    url = "postgresql://me:secret@127.0.0.1:9/plane"

    ended = await officeplane("migrate", env={"OFFICEPLANE_DATABASE_URL": url})

    assert ended.code == 3
    assert "127.0.0.1:9" in ended.err
    assert "secret" not in ended.err
    assert len(ended.err.splitlines()) == 1


async def test_doctor_ends_with_3_when_postgres_is_not_there_and_looks_at_the_rest(officeplane: Officeplane) -> None:
    env = {
        "OFFICEPLANE_DATABASE_URL": "postgresql://127.0.0.1:9/plane",
        "OFFICEPLANE_REDIS_URL": "redis://127.0.0.1:9",
        "OFFICEPLANE_URL": NOBODY,
    }

    ended = await officeplane("doctor", env=env)

    assert ended.code == 3
    assert [line.split()[1] for line in ended.out.splitlines() if line.startswith("problem")] == [
        "postgres",
        "redis",
        "api",
    ]


async def test_serve_says_in_one_line_that_its_port_is_taken(officeplane: Officeplane) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])

        ended = await officeplane(
            "serve", "--port", port, env={"OFFICEPLANE_DATABASE_URL": "postgresql://127.0.0.1:9/plane"}
        )

    assert ended.code == 1
    assert ended.err == f"Cannot listen on 127.0.0.1:{port}: Address already in use\n"


def test_a_problem_is_told_with_its_code_and_a_line_for_each_field() -> None:
    content = b"""{"type": "about:blank", "title": "Invalid request", "status": 422, "detail": "2 fields are wrong",
        "code": "invalid_request", "errors": [{"field": "title", "message": "too long"},
                                              {"field": "tags.0", "message": "not a string"}]}"""

    assert problem_lines(422, "Unprocessable Content", content) == [
        "Invalid request: 2 fields are wrong (invalid_request)",
        "  title: too long",
        "  tags.0: not a string",
    ]


def test_a_problem_of_the_whole_request_is_told_once() -> None:
    content = b"""{"title": "Invalid request", "status": 422, "detail": "Say a note.", "code": "invalid_request",
        "errors": [{"field": "", "message": "Say a note."}]}"""

    assert problem_lines(422, "Unprocessable Content", content) == ["Invalid request: Say a note. (invalid_request)"]


@pytest.mark.parametrize("detail", ["Only a batch may have it.", "children: Only a batch may have it."])
def test_a_problem_of_one_field_is_told_once_with_its_place(detail: str) -> None:
    content = b"""{"title": "Invalid request", "status": 422, "detail": "%s", "code": "invalid_request",
        "errors": [{"field": "children", "message": "Only a batch may have it."}]}"""

    assert problem_lines(422, "Unprocessable Content", content % detail.encode()) == [
        "Invalid request: children: Only a batch may have it. (invalid_request)"
    ]


def test_an_answer_that_is_no_problem_document_is_told_by_its_status() -> None:
    assert problem_lines(502, "Bad Gateway", b"<html>") == ["The API answered 502 Bad Gateway"]
