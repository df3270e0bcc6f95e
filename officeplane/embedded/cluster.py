"""Making a Postgres cluster: its data folder, its one user and its database."""

import asyncio
import shutil
import subprocess
from pathlib import Path

from officeplane.embedded.account import Account
from officeplane.embedded.errors import EmbeddedError
from officeplane.embedded.private_file import write_private
from officeplane.embedded.server import server_environment
from officeplane.embedded.watchdog import Stage, Watchdog

USER = DATABASE = "officeplane"
APP_USER = "officeplane_app"
_BUILTIN_LOCALES_SINCE = 17


def refuse_other_version(folder: Path, major: int) -> None:
    """Say so where Postgres would only fail to start: its data is bound to its major version."""
    made_by = (folder / "PG_VERSION").read_text().strip()
    if made_by != str(major):
        message = f"{folder} was made by Postgres {made_by} and cannot be opened by Postgres {major}"
        raise EmbeddedError(message)


async def make_cluster(
    folder: Path, account: Account, major: int, password: str, watchdog: Watchdog, *, durable: bool
) -> None:
    """Make the folder and the database in it."""
    # Made aside and renamed when whole: a start that was interrupted leaves nothing that looks like a cluster.
    aside = folder.with_suffix(".new")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(mode=0o700)
    account.give(aside)
    password_file = folder.with_suffix(".password")
    try:
        write_private(password_file, password)
        account.give(password_file)
        # Locales built into the server spare us those of the system, which differ and change.
        locale = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8") if major >= _BUILTIN_LOCALES_SINCE else ()
        await _run(
            account,
            watchdog,
            account.programs.initdb,
            *("-D", str(aside), "-U", USER, "--auth=scram-sha-256", f"--pwfile={password_file}"),
            *("--encoding=UTF8", "--locale=C", *locale, "--no-instructions", *(() if durable else ("--no-sync",))),
        )
    finally:
        password_file.unlink(missing_ok=True)
    await _run(
        account,
        watchdog,
        account.programs.server,
        *("--single", "-D", str(aside), "postgres"),
        said=f"CREATE DATABASE {DATABASE}\n",
    )
    aside.rename(folder)


async def _run(account: Account, watchdog: Watchdog, program: Path, *arguments: str, said: str = "") -> None:
    process = await asyncio.create_subprocess_exec(
        *account.command(program, *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=server_environment(),
        start_new_session=True,
        user=account.user,
        group=account.user,
        extra_groups=account.extra_groups,
    )
    watchdog.guard(process.pid, Stage.PROGRAMS)
    try:
        answer, _ = await process.communicate(said.encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        watchdog.release(process.pid)
    if process.returncode != 0:
        words = answer.decode(errors="replace").strip().splitlines() or ["no word why"]
        telling = next((line for line in words if "error" in line or "FATAL" in line), words[-1])
        message = f"Postgres cannot make its data folder: {telling.strip()}"
        raise EmbeddedError(message)
