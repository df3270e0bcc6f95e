"""`officeplane up`: everything on this machine, on servers of its own, from nothing to a first task.

A first signal stops in order: the API and the workers drain, then the servers end. A second one is passed on to
them. Should this process be killed, the watchdog of the embedded servers ends all that it started.
"""

import asyncio
import json
import os
import signal
import socket
import sys
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from officeplane.cli.exits import RefusedError
from officeplane.local import ADDRESSES, ADMIN_KEY, DATA_DIR

if TYPE_CHECKING:
    import httpx

    from officeplane.config import Settings
    from officeplane.embedded.program import Program
    from officeplane.embedded.stack import EmbeddedStack

_READY_SECONDS = 60.0
_GRACE_SECONDS = 5.0  # beyond the drain that the programs allow themselves

_WELCOME = """
OfficePlane is up on {url}

  A document    curl -s {url}/api/documents -H 'Content-Type: application/json' \\
                     -d '{{"id": "hello", "format": "docx"}}'
  An edit       curl -s {url}/api/tasks -H 'Content-Type: application/json' -d '{{"documentId": "hello",
                     "taskType": "add_section", "payload": {{"title": "Plan", "content": "The **first** words."}}}}'
  Look at it    curl -s {url}/api/documents/hello/text
  In a browser  {url}/docs
  Log in        {link} (once, within 15 minutes)
  Keys          {who}; that of {data_dir}/admin.key may do everything
  Logs          {data_dir}/api.log, worker.log
  Stop          Ctrl-C (everything is kept in {data_dir})
"""


_WHO = {
    "auto": "on this machine none is needed",
    "required": "everybody needs one, so each curl above needs -H 'Authorization: Bearer KEY'",
    "off": "nobody is asked for one",
}


def up(
    port: Annotated[
        int, typer.Option(min=1, max=65535, envvar="OFFICEPLANE_PORT", help="Where the API listens.")
    ] = 8001,
    data_dir: Annotated[
        Path, typer.Option(envvar="OFFICEPLANE_DATA_DIR", file_okay=False, help="Where everything is kept.")
    ] = Path(DATA_DIR),
    workers: Annotated[
        int, typer.Option(min=1, envvar="OFFICEPLANE_WORKERS", help="How many tasks the worker runs at a time.")
    ] = 3,
    *,
    with_parent: Annotated[
        bool, typer.Option("--with-parent", hidden=True, help="Stop when the parent is gone.")
    ] = False,
) -> None:
    """Start everything here: Postgres, Valkey, the API and a worker."""
    from officeplane.cli.callers import check_people
    from officeplane.cli.environment import read_settings
    from officeplane.embedded.errors import EmbeddedError
    from officeplane.telemetry.logs import configure_logs

    settings = read_settings(port=port, workers=workers)
    check_people(settings)
    configure_logs(settings)
    try:
        asyncio.run(_Up(settings, data_dir, with_parent=with_parent).run())
    except EmbeddedError as error:
        raise RefusedError(str(error)) from error


class _Up:
    """One run of the command."""

    def __init__(self, settings: "Settings", data_dir: Path, *, with_parent: bool) -> None:
        self._settings = settings
        self._with_parent = with_parent
        self._data_dir = data_dir
        self._programs: list[Program] = []
        self._asked_to_stop = asyncio.Event()

    async def run(self) -> None:
        """Stay up until asked to stop."""
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup, the end of the terminal is to be ignored.
            if signum is not signal.SIGHUP or signal.getsignal(signum) is not signal.SIG_IGN:
                loop.add_signal_handler(signum, self._on_signal)
        staying = asyncio.create_task(self._stay_up())
        asked = asyncio.create_task(self._until_asked_to_stop())
        await asyncio.wait({staying, asked}, return_when=asyncio.FIRST_COMPLETED)
        if asked.cancel():
            await staying
            return
        staying.cancel()
        with suppress(asyncio.CancelledError):
            await staying

    def _on_signal(self) -> None:
        import structlog

        if self._asked_to_stop.is_set():
            for program in self._programs:
                program.ask_to_stop()
        else:
            # First, for saying so fails where nobody is left who reads it.
            self._asked_to_stop.set()
            structlog.get_logger().info("up.stopping", advice="what runs may finish; a second signal hands it back")

    async def _until_asked_to_stop(self) -> None:
        # `make` dies without a word when it is killed; whoever killed it meant us.
        parent = os.getppid()
        while os.getppid() == parent or not self._with_parent:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._asked_to_stop.wait(), 0.5)
                return
        self._asked_to_stop.set()

    async def _stay_up(self) -> None:
        from officeplane.cli.admin_key import keep_admin_key
        from officeplane.embedded.program import keep_program, keep_server
        from officeplane.embedded.stack import await_predecessor, embedded_stack
        from officeplane.store.migrate import MigrationChangedError, migrate
        from officeplane.store.roles import admit_app

        await await_predecessor(self._data_dir)
        self._refuse_taken_port()
        async with AsyncExitStack() as leaving:
            stack = await leaving.enter_async_context(embedded_stack(self._data_dir))
            try:
                await migrate(stack.database_url)
                await admit_app(stack.database_url, stack.app_url)
            except MigrationChangedError as error:
                raise RefusedError(str(error)) from error
            await keep_admin_key(stack.app_url, self._data_dir / ADMIN_KEY, self._settings.admin_key)
            self._leave_addresses(stack)
            self._programs = self._programs_on(stack)
            leaving.push_async_callback(self._stop_programs)
            for program in self._programs:
                program.start()
            await self._until_ready()
            typer.echo(self._welcome(await _login_link(stack.app_url, self._url)))
            async with asyncio.TaskGroup() as group:
                api, worker = self._programs
                group.create_task(keep_program(api))
                group.create_task(keep_program(worker, lambda pid: _take_off_the_list(stack.app_url, pid)))
                for program in self._programs:
                    group.create_task(program.log.keep_showing(sys.stderr))
                for server in (stack.postgres, stack.valkey):
                    group.create_task(keep_server(server, stack.watchdog))

    def _refuse_taken_port(self) -> None:
        from officeplane.embedded.ports import is_free

        if not is_free(self._settings.port, self._settings.host):
            raise RefusedError(
                f"Port {self._settings.port} is in use: stop what listens there, or choose another --port."
            )

    def _leave_addresses(self, stack: "EmbeddedStack") -> None:
        from officeplane.embedded.private_file import write_private

        addresses = {
            "url": self._url,
            "databaseUrl": stack.app_url,
            "ownerUrl": stack.database_url,
            "redisUrl": stack.redis_url,
        }
        write_private(self._data_dir / ADDRESSES, json.dumps(addresses, indent=2))

    def _programs_on(self, stack: "EmbeddedStack") -> "list[Program]":
        from officeplane.embedded.log_file import LogFile
        from officeplane.embedded.program import Program

        urls = {"OFFICEPLANE_DATABASE_URL": stack.app_url, "OFFICEPLANE_REDIS_URL": stack.redis_url}
        environment = {**os.environ, **urls}
        officeplane = (sys.executable, "-m", "officeplane.cli.main")
        serve = (*officeplane, "serve", "--host", self._settings.host, "--port", str(self._settings.port))
        worker = (*officeplane, "worker", "--concurrency", str(self._settings.workers))
        return [
            Program("the API", serve, environment, stack.watchdog, LogFile(self._data_dir / "api.log")),
            Program("the worker", worker, environment, stack.watchdog, LogFile(self._data_dir / "worker.log")),
        ]

    async def _stop_programs(self) -> None:
        patience = self._settings.drain_seconds + _GRACE_SECONDS
        await asyncio.gather(*(program.stop(patience) for program in self._programs))
        for program in self._programs:
            program.log.show(sys.stderr)

    async def _until_ready(self) -> None:
        import httpx

        try:
            async with asyncio.timeout(_READY_SECONDS), httpx.AsyncClient(trust_env=False) as client:
                while not await _is_ready(client, f"{self._url}/api/health/ready"):
                    for program in self._programs:
                        if not program.running:
                            program.log.show(sys.stderr)
                            raise RefusedError(f"{program.name} ended at its start with exit code {program.exit_code}")
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise RefusedError(f"the API did not become ready within {_READY_SECONDS:g} s") from None

    def _welcome(self, link: str) -> str:
        who = _WHO[self._settings.auth]
        return _WELCOME.format(url=self._url, data_dir=self._data_dir.resolve(), who=who, link=link)

    @property
    def _url(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self._settings.host, self._settings.host)  # noqa: S104
        return f"http://{host}:{self._settings.port}"


async def _login_link(database_url: str, url: str) -> str:
    """Return where whoever has started this logs in, in a browser."""
    from officeplane.cli.keys.keeping import me
    from officeplane.domain.principal import Scope
    from officeplane.services.access.login_links import LoginLinks
    from officeplane.store.connection import open_ledger

    async with open_ledger(database_url, connections=1) as ledger:
        return url + (await LoginLinks(ledger).create(me(), {Scope.ADMIN})).path


async def _take_off_the_list(database_url: str, pid: int) -> None:
    """Let nobody count on a worker that was seen to end, nor wait for its leases."""
    import structlog

    from officeplane.domain.errors import DatabaseUnavailableError
    from officeplane.store import workers
    from officeplane.store.connection import open_ledger

    try:
        async with open_ledger(database_url, connections=1) as ledger:
            await workers.died(ledger, socket.gethostname(), pid)
    except DatabaseUnavailableError as error:
        # Its leases run out by themselves.
        structlog.get_logger().info("worker.not_taken_off", pid=pid, error=str(error))


async def _is_ready(client: "httpx.AsyncClient", url: str) -> bool:
    import httpx

    try:
        return (await client.get(url)).status_code == 200
    except httpx.TransportError:
        return False
