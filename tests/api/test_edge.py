"""What a browser can be talked into, and what every answer says against it."""

import socket
from collections.abc import Mapping

import httpx
import pytest

from officeplane.api.authority import authority_of, names_of
from officeplane.config import Settings
from officeplane.domain.principal import Scope
from tests.api.client import Api, a_key, client_of, code_of, running, stranger_to

HERE = "localhost:8001"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound
PAUSE = "/api/task-types/noop/pause"
FROM_ELSEWHERE = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}


def names(**settings: object) -> Settings:
    return Settings.model_validate({"host": "127.0.0.1", **settings})


def is_ours(asked: bytes, /, *, arrived_at: str = "127.0.0.1", **settings: object) -> bool:
    authority = authority_of(asked)
    return authority is not None and names_of(names(**settings), "desk.home.arpa").mean_us(authority.host, arrived_at)


@pytest.mark.parametrize(
    "host",
    [
        b"localhost", b"localhost:8001", b"LocalHost:1", b"localhost.", b"localhost:", b"127.0.0.1:8001", b"127.8.9.1",
        b"[::1]", b"[::1]:8001", b"[0:0:0:0:0:0:0:1]", b"[::ffff:127.0.0.1]", b"desk", b"Desk.Home.arpa:80",
    ],
)  # fmt: skip
def test_this_machine_is_known_by_its_names_in_every_spelling(host: bytes) -> None:
    assert is_ours(host)


@pytest.mark.parametrize(
    "host",
    [
        b"", b"evil.example", b"evil.example:8001", b"localhost.evil.example", b"evil.example#localhost",
        b"localhost@evil.example", b"evil.example@localhost", b"localhost,evil.example", b"localhost evil.example",
        b"localhost..", b".localhost", b"localhost:port", b"localhost:8001:8001", b"localhost:123456", b"::1",
        b"[127.0.0.1]", b"[::1", b"::1]", b"[::1%25lo]", b"127.1", b"2130706433", b"0x7f.0.0.1", b"0177.0.0.1",
        b"127.0.0.1.evil.example", b"0.0.0.0", b"[::]", b"169.254.169.254", b"192.168.1.7",
        "ⓛocalhost".encode(), "locаlhost".encode(), "127。0。0。1".encode(), "１２７.0.0.1".encode(),
        "localhoſt".encode(), b"local\xadhost", b"localhost\x00", b"localhost%00", b"%6cocalhost", b"localhost/",
    ],
)  # fmt: skip
def test_nothing_that_looks_like_this_machine_passes_for_it(host: bytes) -> None:
    assert not is_ours(host)


def test_what_serve_binds_is_a_name_of_it() -> None:
    assert is_ours(b"10.0.0.7:8001", host="10.0.0.7")
    assert is_ours(b"[fd00::7]:8001", host="fd00:0::7")
    assert is_ours(b"office:8001", host="Office")
    assert not is_ours(b"10.0.0.8", host="10.0.0.7")


def test_who_listens_everywhere_is_known_by_the_address_that_was_reached() -> None:
    assert is_ours(b"192.168.1.7:8001", host=EVERYWHERE, arrived_at="192.168.1.7")
    assert is_ours(b"[fd00::7]", host="::", arrived_at="fd00::7")
    assert not is_ours(b"192.168.1.8", host=EVERYWHERE, arrived_at="192.168.1.7")
    assert not is_ours(b"evil.example", host=EVERYWHERE, arrived_at="192.168.1.7")


def test_allowed_hosts_are_added_and_a_star_allows_all() -> None:
    assert is_ours(b"Office.example:443", allowed_hosts="office.example, 10.0.0.9")
    assert is_ours(b"localhost", allowed_hosts="office.example")
    assert not is_ours(b"evil.example", allowed_hosts="office.example")
    assert is_ours(b"evil.example", allowed_hosts="*")


async def test_a_name_of_somebody_else_that_leads_here_reads_nothing(api: Api) -> None:
    for path in ("/api/tasks", "/api/stats", "/metrics", "/", "/docs", "/openapi.json", "/nowhere"):
        answer = await api.client.get(path, headers={"Host": "evil.example:8001"})

        assert code_of(answer) == (421, "misdirected_request"), path
        assert "OFFICEPLANE_ALLOWED_HOSTS" in answer.json()["detail"]


async def test_probes_may_ask_for_any_host(api: Api) -> None:
    for path in ("/api/health/live", "/api/health/ready"):
        assert (await api.client.get(path, headers={"Host": "10.244.0.17:8001"})).status_code == 200


async def test_two_hosts_are_none(api: Api) -> None:
    for hosts in (["localhost", "evil.example"], ["evil.example", "localhost"], ["localhost", "localhost"]):
        answer = await api.client.get("/api/tasks", headers=[("Host", host) for host in hosts])

        assert code_of(answer) == (421, "misdirected_request")


@pytest.mark.parametrize(
    "headers",
    [
        FROM_ELSEWHERE,
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "same-origin, cross-site"},
        {"Sec-Fetch-Site": ""},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://localhost"},
        {"Origin": "http://127.0.0.1:8001"},
        {"Origin": "http://localhost:8001.evil.example"},
        {"Origin": "http://localhost:8001/"},
        {"Origin": "http://evil.example http://localhost:8001"},
        {"Origin": "chrome-extension://localhost:8001"},
        {"Origin": "http://localhost:8001", "Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_a_page_of_somebody_else_changes_nothing(api: Api, headers: Mapping[str, str]) -> None:
    for kind in ("", "text/plain", "application/x-www-form-urlencoded"):
        answer = await api.client.post(PAUSE, headers={"Host": HERE, "Content-Type": kind, **headers})

        assert code_of(answer) == (403, "cross_site")
    for method, path in (("PUT", "/api/documents/d"), ("DELETE", "/api/limits/noop"), ("PATCH", "/api/tasks/t")):
        answer = await api.client.request(method, path, headers={"Host": HERE, **headers})

        assert code_of(answer) == (403, "cross_site")
    assert 'officeplane_task_type_paused{type="noop"} 0.0' in (await api.get("/metrics")).text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://localhost:8001", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://LOCALHOST:8001"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin"},
    ],
)
async def test_our_own_pages_and_programs_change_what_they_like(api: Api, headers: Mapping[str, str]) -> None:
    answer = await api.client.post("/api/task-types/noop/resume", headers={"Host": HERE, **headers})

    assert answer.status_code == 200, answer.text


async def test_behind_a_proxy_that_ends_tls_our_own_pages_are_ours(api_settings: Settings) -> None:
    settings = api_settings.model_copy(update={"allowed_hosts": ("office.example",)})
    async with running(settings) as app, stranger_to(app, await a_key(app, Scope.CONTROL)) as client:
        headers = {"Host": "office.example", "Origin": "https://office.example", "Sec-Fetch-Site": "same-origin"}
        assert (await client.post("/api/task-types/noop/resume", headers=headers)).status_code == 200
        headers["Origin"] = "https://office.example:8443"
        assert (await client.post("/api/task-types/noop/resume", headers=headers)).status_code == 403


async def test_a_page_of_somebody_else_is_not_local_and_reads_nothing(api: Api) -> None:
    answer = await api.client.get("/api/tasks", headers=FROM_ELSEWHERE)

    assert code_of(answer) == (401, "unauthenticated")
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_allowed_origins_may_ask_and_read_but_without_cookies(api_settings: Settings) -> None:
    settings = api_settings.model_copy(update={"allowed_origins": ("https://app.example", "http://localhost:3000")})
    async with running(settings) as app, client_of(app) as client:
        theirs = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
        asked = {
            **theirs,
            "Access-Control-Request-Method": "PATCH",
            "Access-Control-Request-Headers": "content-type,idempotency-key",
        }
        preflight = await client.options("/api/tasks", headers=asked)
        done = await client.post("/api/task-types/noop/resume", headers=theirs)
        refused = await client.post("/api/task-types/noop/resume", headers=FROM_ELSEWHERE)
        read = await client.get("/api/tasks", headers={**theirs, "Cookie": "session=1"})

    assert preflight.status_code == 200
    assert "PATCH" in preflight.headers["Access-Control-Allow-Methods"]
    assert done.status_code == 200
    assert code_of(refused) == (403, "cross_site")
    for answer in (preflight, done, read):
        assert answer.headers["Access-Control-Allow-Origin"] == "https://app.example"
        assert "Origin" in answer.headers["Vary"]
        assert "Access-Control-Allow-Credentials" not in answer.headers
    assert "Location" in read.headers["Access-Control-Expose-Headers"]


async def test_pages_of_allowed_origins_may_send_and_read_every_header_that_the_api_knows(
    api_settings: Settings,
) -> None:
    settings = api_settings.model_copy(update={"allowed_origins": ("https://app.example",)})
    async with running(settings) as app, client_of(app) as client:
        operations = [
            operation
            for path in (await client.get("/openapi.json")).json()["paths"].values()
            for operation in path.values()
        ]
        sent = {
            parameter["name"]
            for operation in operations
            for parameter in operation.get("parameters", ())
            if parameter["in"] == "header"
        }
        answered = {
            name
            for operation in operations
            for answer in operation["responses"].values()
            for name in answer.get("headers", ())
        }
        theirs = {"Origin": "https://app.example", "Access-Control-Request-Method": "GET"}
        asked = {**theirs, "Access-Control-Request-Headers": ",".join(sent)}
        preflight = await client.options("/api/tasks", headers=asked)
        read = await client.get("/api/tasks", headers=theirs)

    assert {"Idempotency-Key", "If-None-Match"} <= sent
    assert preflight.status_code == 200, preflight.text
    assert {"ETag", "Link"} <= answered
    assert answered <= {*read.headers["Access-Control-Expose-Headers"].split(", ")}


async def test_every_answer_says_that_it_is_no_page_and_is_not_kept(api: Api) -> None:
    told = [
        await api.get("/api/tasks"),
        await api.get("/api/health/live"),
        await api.get("/nowhere"),
        await api.post("/api/tasks", {"taskType": "noop", "colour": "red"}),
        await api.client.get("/api/tasks", headers={"Host": "evil.example"}),
        await api.client.post(PAUSE, headers=FROM_ELSEWHERE),
    ]

    for answer in told:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Cache-Control"] == "no-store"


async def test_a_defect_is_told_as_carefully(api_settings: Settings) -> None:
    async def break_down() -> None:
        raise RuntimeError("secret")

    async with running(api_settings) as app, client_of(app) as client:
        app.add_api_route("/broken", break_down)
        answer = await client.get("/broken")

    assert code_of(answer) == (500, "internal_error")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "secret" not in answer.text


async def test_a_file_is_saved_and_never_shown_as_a_page(api: Api) -> None:
    made = await api.post("/api/documents", {"format": "docx"})

    answer = await api.get(f"/api/documents/{made.json()['id']}/content")

    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    policy = answer.headers["Content-Security-Policy"]
    assert {part.strip() for part in policy.split(";")} == {"sandbox", "frame-ancestors 'none'"}


async def test_head_is_answered_wherever_get_is(api: Api, url: str) -> None:
    made = (await api.post("/api/documents", {"format": "docx"})).json()["id"]
    lengths = ["/", "/docs", "/openapi.json", "/api/health/live", f"/api/documents/{made}", "/nowhere"]
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        for path in [*lengths, f"/api/documents/{made}/content", "/api/tasks", "/metrics"]:
            got, asked = await client.get(path), await client.head(path)

            assert asked.status_code == got.status_code, path
            assert asked.content == b""
            assert path not in lengths or asked.headers["Content-Length"] == got.headers["Content-Length"]
            assert asked.headers["Content-Type"] == got.headers["Content-Type"]
        # What would go on for ever has an end, and the connection is good for more.
        assert (await client.head("/api/events", timeout=10)).headers["Content-Type"].startswith("text/event-stream")
        assert (await client.head("/api/dead-letters/resolve")).status_code in {404, 405}


async def test_nobody_is_left_at_a_bare_404(api: Api) -> None:
    for path, way_on in (("/api", "/docs"), ("/api/", "/docs"), ("/health", "/api/health/ready"), ("/x", "/docs")):
        answer = await api.get(path)

        assert code_of(answer) == (404, "not_found")
        assert way_on in answer.json()["detail"]


async def test_the_machine_answers_to_its_own_name(api: Api) -> None:
    answer = await api.client.get("/api/tasks?limit=1", headers={"Host": f"{socket.gethostname()}:8001"})

    assert code_of(answer) == (401, "unauthenticated"), "it is no name of this machine for itself alone"
