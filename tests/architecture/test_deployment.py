"""What the containers are given, and what not."""

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
COMPOSE: Final = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
_SECTION: Final = re.compile(r"^([a-z-]+): *(?:&\w+)?$", re.MULTILINE)
_SERVICE: Final = re.compile(r"^  (\w+):$", re.MULTILINE)


def blocks(text: str, heading: re.Pattern[str]) -> dict[str, str]:
    """Return what stands below each heading."""
    pieces = heading.split(text)[1:]
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


SECTIONS: Final = blocks(COMPOSE, _SECTION)
SERVICES: Final = blocks(SECTIONS["services"], _SERVICE)


def whole(service: str) -> str:
    """Return a service's lines with those of the templates that it takes in."""
    text = SERVICES[service]
    for name in ("officeplane", "contained"):
        text = text.replace(f"<<: *{name}", SECTIONS[f"x-{name}"])
    return text


def test_all_services_are_known_here() -> None:
    assert set(SERVICES) == {"postgres", "redis", "migrate", "api", "workers"}


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize(
    "line",
    ["read_only: true", "cap_drop: [ALL]", '"no-new-privileges:true"', "pids_limit: ", "mem_limit: ", "tmpfs: "],
)
def test_a_container_has_no_more_than_it_needs(service: str, line: str) -> None:
    assert line in whole(service)


def test_only_the_api_is_published_and_only_on_this_machine() -> None:
    published = re.findall(r"ports: (.*)", COMPOSE)

    assert published == ['["${OFFICEPLANE_BIND:-127.0.0.1}:${OFFICEPLANE_PORT:-8001}:8001"]']


def test_the_servers_can_be_reached_by_the_programs_alone_and_reach_nobody() -> None:
    for service in ("postgres", "redis"):
        assert "networks: [back]" in SERVICES[service]
    assert "internal: true" in SECTIONS["networks"].partition("back:")[2]


def test_only_the_migration_is_the_owner() -> None:
    owners = [service for service in SERVICES if "//officeplane:" in whole(service)]

    assert owners == ["migrate"]


def test_the_api_alone_has_the_first_key_and_does_not_start_without_one() -> None:
    named = [service for service in SERVICES if "OFFICEPLANE_ADMIN_KEY" in whole(service)]

    assert named == ["api"]
    assert "OFFICEPLANE_ADMIN_KEY: ${OFFICEPLANE_ADMIN_KEY:?" in SERVICES["api"]
    assert "OFFICEPLANE_ADMIN_KEY" not in SECTIONS["x-officeplane"]


def test_what_asks_whether_a_container_is_well_needs_no_key() -> None:
    asked = re.findall(r"http://127\.0\.0\.1:8001(/\S*)'", COMPOSE.partition("services:")[2])

    assert asked == ["/api/health/ready"]


def test_no_password_stands_in_a_command_line() -> None:
    assert "--requirepass" not in COMPOSE
    assert "_PASSWORD" not in " ".join(re.findall(r"command:((?:.*\n(?!    \w))*.*)", COMPOSE))


@pytest.mark.parametrize("file", ["docker-compose.yml", "Dockerfile"])
def test_images_of_others_are_named_by_their_content(file: str) -> None:
    images = re.findall(r"^(?:FROM| +image:) (\S+)", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)

    assert [image for image in images if not re.search(r"@sha256:[0-9a-f]{64}$", image)] in ([], ["officeplane"])
