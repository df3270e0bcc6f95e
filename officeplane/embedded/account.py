"""As whom Postgres runs. It refuses to be root, or a user without a name, so these need a way to be somebody else.

Root's Postgres runs as the real nobody, where nobody gets to the data folder and to the programs: whoever is let
into the database as its superuser can then write no file of root's. Folders above that are closed to others stay
closed; below such, and for a user without a name, it runs in a user namespace in which it looks like nobody, though
its files are those of whoever started it. Where namespaces are forbidden (containers), what remains is nobody with a
copy of the programs in the data folder. Permissions of folders that are not ours are never touched.
"""

import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from officeplane.embedded.binaries import PostgresPrograms
from officeplane.embedded.errors import EmbeddedError

_NOBODY = 65534
_PROBE = 'test -w "$1" && test -x "$1" && exec "$2" --version'


@dataclass(frozen=True, slots=True)
class Account:
    """How a program is started: what stands before its command, and the user it becomes, if not this one."""

    programs: PostgresPrograms
    prefix: tuple[str, ...] = ()
    user: int | None = None

    @property
    def extra_groups(self) -> list[int] | None:
        return None if self.user is None else []

    def give(self, path: Path) -> None:
        """Make the account the owner of a file, or of a folder and all in it."""
        owner = os.geteuid() if self.user is None else self.user
        if path.lstat().st_uid == owner:
            return
        # The folder itself comes last: whoever is interrupted begins again.
        for folder, folders, files in os.walk(path, topdown=False):
            for name in (*folders, *files):
                os.lchown(os.path.join(folder, name), owner, -1)
        os.lchown(path, owner, -1)

    def command(self, program: Path, *arguments: str) -> list[str]:
        return [*self.prefix, str(program), *arguments]


def account_for(programs: PostgresPrograms, data_dir: Path) -> Account:
    """The first way of running these programs on this folder that works here."""
    plain = Account(programs)
    if _may_be_itself():
        return plain
    for account in _disguises(plain, data_dir):
        if _works(account, data_dir):
            return account
    who = "root" if os.geteuid() == 0 else f"user {os.geteuid()}, who has no name here"
    message = (
        f"Postgres does not run as {who}, and nobody else can use {data_dir}: run as a normal user,"
        " choose a data folder that others may enter, or set OFFICEPLANE_DATABASE_URL"
    )
    raise EmbeddedError(message)


def is_open_to_nobody_alone(folder: os.stat_result) -> bool:
    """Tell whether a folder is closed to all but its owner and, on the way through, nobody."""
    return folder.st_mode & 0o077 == 0o010 and folder.st_gid == _NOBODY


def _may_be_itself() -> bool:
    try:
        return pwd.getpwuid(os.geteuid()).pw_uid != 0
    except KeyError:
        return False


def _disguises(plain: Account, data_dir: Path) -> Iterator[Account]:
    nobody = replace(plain, user=_NOBODY)
    is_root = os.geteuid() == 0
    if is_root:
        before = data_dir.stat()
        _let_in_nobody(data_dir)
        yield nobody
        os.chown(data_dir, -1, before.st_gid)
        data_dir.chmod(stat.S_IMODE(before.st_mode))
    unshare = shutil.which("unshare")
    if unshare:
        mapping = (unshare, "--user", f"--map-user={_NOBODY}", f"--map-group={_NOBODY}", "--")
        yield replace(plain, prefix=mapping)
    if is_root and plain.programs.package is not None:
        _let_in_nobody(data_dir)
        yield replace(nobody, programs=_copied(plain.programs, plain.programs.package, data_dir))


def _let_in_nobody(data_dir: Path) -> None:
    """See that the group of nobody gets through this folder, which is ours, unless everybody does."""
    if not data_dir.stat().st_mode & stat.S_IXOTH:
        os.chown(data_dir, -1, _NOBODY)
        data_dir.chmod(0o710)


def _works(account: Account, data_dir: Path) -> bool:
    place = data_dir / "probe"
    place.mkdir(exist_ok=True)
    account.give(place)
    try:
        probe = subprocess.run(
            account.command(Path("/bin/sh"), "-c", _PROBE, "sh", str(place), str(account.programs.server)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            user=account.user,
            group=account.user,
            extra_groups=account.extra_groups,
        )
    except OSError:
        return False
    finally:
        place.rmdir()
    return probe.returncode == 0


def _copied(programs: PostgresPrograms, package: Path, data_dir: Path) -> PostgresPrograms:
    copies = data_dir / "programs"
    copy = copies / package.name
    copied = PostgresPrograms(copy / programs.folder.relative_to(package), copy)
    if not _is_same_file(copied.server, programs.server):
        aside = data_dir / "programs.new"
        shutil.rmtree(aside, ignore_errors=True)
        # The libraries are found beside the package, by a path relative to the programs.
        for folder in (package, package.with_name(f"{package.name}.libs")):
            if folder.exists():
                shutil.copytree(folder, aside / folder.name, symlinks=True)
        aside.chmod(0o755)
        shutil.rmtree(copies, ignore_errors=True)
        aside.rename(copies)
    return copied


def _is_same_file(copy: Path, original: Path) -> bool:
    if not copy.exists():
        return False
    one, other = copy.stat(), original.stat()
    return (one.st_size, int(one.st_mtime)) == (other.st_size, int(other.st_mtime))
