"""`officeplane bench`: how quick this system is on these servers, and what the servers could do at most."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from officeplane.cli.exits import RefusedError, UnreachableError, UsageError

if TYPE_CHECKING:
    from officeplane.bench.ground import Ground
    from officeplane.bench.report import Report
    from officeplane.embedded.watchdog import Watchdog

_QUICK = 0.1


def bench(
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
    """Measure this system, and in the same run the limits of the same Postgres and Redis.

    Without URLs it brings servers of its own, with all durability on, and removes them afterwards.
    """
    import asyncio

    import uvloop

    from officeplane.bench.picture import picture
    from officeplane.bench.run import NAMES
    from officeplane.cli.console import show, write_json
    from officeplane.cli.texts import compact

    if bool(database_url) != bool(redis_url):
        raise UsageError("Give both --database-url and --redis-url, or neither.")
    chosen = [name for names in only or () for name in names.split(",")]
    for name in chosen:
        if name not in NAMES:
            raise UsageError(f"There is no scenario {name!r}; there are: {', '.join(NAMES)}.")
    _forget_settings()
    try:
        report = uvloop.run(_measure(database_url, redis_url, _QUICK if quick else 1.0, chosen, repeats))
    except asyncio.CancelledError:
        raise RefusedError("Stopped before the end; what was measured so far is gone.") from None
    if as_json:
        write_json(compact(report.as_json()))
    else:
        for part in picture(report):
            show(part)


def _forget_settings() -> None:
    import os

    # What is measured is this version with its default settings, whatever the shell has set.
    for name in list(os.environ):
        if name.startswith("OFFICEPLANE_") and name != "OFFICEPLANE_PG_BIN":
            del os.environ[name]


async def _measure(database_url: str, redis_url: str, scale: float, only: Sequence[str], repeats: int) -> "Report":
    import asyncio
    import signal
    import tempfile

    import asyncpg

    from officeplane.bench.installation import TooSlowError
    from officeplane.bench.programs import ProgramEndedError
    from officeplane.bench.run import run
    from officeplane.cli.console import remarks
    from officeplane.dispatch.availability import RedisUnavailable
    from officeplane.embedded.errors import EmbeddedError

    measuring = asyncio.current_task()
    assert measuring is not None  # noqa: S101 - this is a coroutine
    for signum in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signum, measuring.cancel)
    with tempfile.TemporaryDirectory(prefix="officeplane-bench-") as folder, remarks().status("") as status:

        def say(what: str) -> None:
            if status.console.is_terminal:
                status.update(what)
            else:
                status.console.print(what)

        try:
            async with _ground(database_url, redis_url, Path(folder), scale) as ground:
                return await run(ground, only=only, repeats=repeats, say=say)
        except (EmbeddedError, TooSlowError, ProgramEndedError) as error:
            raise RefusedError(str(error)) from error
        except asyncpg.InsufficientPrivilegeError as error:
            raise RefusedError(f"Postgres does not let this user make a database: {error}") from error
        except (OSError, asyncpg.PostgresConnectionError, RedisUnavailable) as error:
            raise UnreachableError(f"A server does not answer: {type(error).__name__}: {error}") from error


@asynccontextmanager
async def _ground(database_url: str, redis_url: str, folder: Path, scale: float) -> "AsyncGenerator[Ground, None]":
    from officeplane.bench.ground import open_ground
    from officeplane.embedded.stack import embedded_stack
    from officeplane.embedded.watchdog import Watchdog

    if database_url:
        with Watchdog() as watchdog:
            async with open_ground(database_url, redis_url, folder=folder, scale=scale, guard=_Guard(watchdog)) as it:
                yield it
        return
    data, processes = folder / "servers", folder / "processes"
    processes.mkdir()
    async with (
        embedded_stack(data) as stack,
        open_ground(
            stack.database_url, stack.redis_url, folder=processes, scale=scale, guard=_Guard(stack.watchdog)
        ) as it,
    ):
        yield it


class _Guard:
    """Has the watchdog end the measured processes should this one be killed."""

    def __init__(self, watchdog: "Watchdog") -> None:
        self._watchdog = watchdog

    def guard(self, pid: int) -> None:
        from officeplane.embedded.watchdog import Stage

        self._watchdog.guard(pid, Stage.PROGRAMS)

    def release(self, pid: int) -> None:
        self._watchdog.release(pid)
