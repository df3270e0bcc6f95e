"""`officeplane bench`: how quick this system is on these servers, and what the servers could do at most."""

from collections.abc import Awaitable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from officeplane.cli.exits import RefusedError, UnreachableError, UsageError

if TYPE_CHECKING:
    from officeplane.bench.report import Report
    from officeplane.embedded.watchdog import Watchdog

Value = TypeVar("Value")

_QUICK = 0.1


class Kind(StrEnum):
    """What may be measured."""

    TASKS = "tasks"
    DOCUMENTS = "documents"


def bench(
    what: Annotated[Kind, typer.Argument(help="The queue, or edits of documents beside the same work by hand.")] = (
        Kind.TASKS
    ),
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON and nothing else.")] = False,
    database_url: Annotated[
        str, typer.Option(help="Measure on this Postgres, in a database of its own.", metavar="URL")
    ] = "",
    redis_url: Annotated[str, typer.Option(help="And on this Redis, under a prefix of its own.", metavar="URL")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of everything: does it run?")] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="A scenario to measure, or `limits`; may repeat.", metavar="NAME")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How often; the middle is shown.")] = 1,
) -> None:
    """Measure this system, and in the same run what it is compared with.

    Tasks are compared with the limits of the same Postgres and Redis; edits of documents with the same edits
    of the same files by python-docx and openpyxl.

    Without URLs it brings servers of its own, with all durability on, and removes them afterwards.
    """
    from officeplane.bench.picture import picture
    from officeplane.bench.run import names
    from officeplane.cli.console import show, write_json
    from officeplane.cli.environment import read_settings
    from officeplane.cli.texts import compact

    if bool(database_url) != bool(redis_url):
        raise UsageError("Give both --database-url and --redis-url, or neither.")
    chosen = [name for several in only or () for name in several.split(",")]
    for name in chosen:
        if name not in names(what):
            raise UsageError(f"There is no scenario {name!r}; there are: {', '.join(names(what))}.")
    _forget_settings()
    read_settings(database_url=database_url or None, redis_url=redis_url or None)
    order = Order(what, database_url, redis_url, _QUICK if quick else 1.0, chosen, repeats)
    report = _measured(order)
    if as_json:
        write_json(compact(report.as_json()))
    else:
        for part in picture(report):
            show(part)


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked for."""

    suite: str
    database_url: str
    redis_url: str
    scale: float
    only: Sequence[str]
    repeats: int


def _forget_settings() -> None:
    import os

    # What is measured is this version with its default settings, whatever the shell has set.
    for name in list(os.environ):
        if name.startswith("OFFICEPLANE_") and name != "OFFICEPLANE_PG_BIN":
            del os.environ[name]


def _measured(order: Order) -> "Report":
    import asyncio
    import tempfile

    import uvloop

    from officeplane.bench.installation import TooSlowError
    from officeplane.bench.office import NotDoneError
    from officeplane.bench.programs import ProgramEndedError
    from officeplane.bench.servers import NotAllowedError
    from officeplane.dispatch.availability import RedisUnavailable
    from officeplane.domain.errors import DatabaseUnavailableError
    from officeplane.embedded.errors import EmbeddedError

    try:
        with (
            tempfile.TemporaryDirectory(prefix="officeplane-bench-") as folder,
            _servers(order, Path(folder)) as servers,
        ):
            # The loop that workers have; the servers are started in another one, for uvloop cannot change users.
            return uvloop.run(_to_its_end(_measure(order, Path(folder), *servers)))
    except asyncio.CancelledError:
        raise RefusedError("Stopped before the end; nothing of it is left.") from None
    except (EmbeddedError, NotAllowedError, NotDoneError, TooSlowError, ProgramEndedError) as error:
        raise RefusedError(str(error)) from error
    except (DatabaseUnavailableError, RedisUnavailable) as error:
        raise UnreachableError(f"A server does not answer: {error}") from error


@contextmanager
def _servers(order: Order, folder: Path) -> "Generator[tuple[str, str, Watchdog]]":
    import asyncio

    from officeplane.embedded.stack import embedded_stack
    from officeplane.embedded.watchdog import Watchdog

    if order.database_url:
        with Watchdog() as watchdog:
            yield order.database_url, order.redis_url, watchdog
        return
    with asyncio.Runner() as runner:
        servers = embedded_stack(folder / "servers")
        stack = runner.run(_to_its_end(servers.__aenter__()))
        try:
            yield stack.database_url, stack.redis_url, stack.watchdog
        finally:
            runner.run(servers.__aexit__(None, None, None))


async def _to_its_end(work: Awaitable[Value]) -> Value:
    """Do the work; a signal cancels it, so that it cleans up."""
    import asyncio
    import signal

    loop, working = asyncio.get_running_loop(), asyncio.current_task()
    assert working is not None  # noqa: S101 - this is a coroutine
    signals = (signal.SIGINT, signal.SIGTERM)
    for signum in signals:
        loop.add_signal_handler(signum, working.cancel)
    try:
        return await work
    finally:
        for signum in signals:
            loop.remove_signal_handler(signum)


async def _measure(order: Order, folder: Path, database_url: str, redis_url: str, watchdog: "Watchdog") -> "Report":
    from officeplane.bench.run import run
    from officeplane.bench.servers import open_servers
    from officeplane.cli.console import remarks

    logs = folder / "processes"
    logs.mkdir()
    with remarks().status("") as status:

        def say(what: str) -> None:
            if status.console.is_terminal:
                status.update(what)
            else:
                status.console.print(what)

        async with open_servers(
            database_url, redis_url, folder=logs, scale=order.scale, guard=_Guard(watchdog)
        ) as servers:
            return await run(servers, suite=order.suite, only=order.only, repeats=order.repeats, say=say)


class _Guard:
    """Has the watchdog end the measured processes should this one be killed."""

    def __init__(self, watchdog: "Watchdog") -> None:
        self._watchdog = watchdog

    def guard(self, pid: int) -> None:
        from officeplane.embedded.watchdog import Stage

        self._watchdog.guard(pid, Stage.PROGRAMS)

    def release(self, pid: int) -> None:
        self._watchdog.release(pid)
