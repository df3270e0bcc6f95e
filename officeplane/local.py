"""The installation that `officeplane up` runs on this machine, found by everybody who was told of none.

`up` leaves its addresses in its data folder; whoever works in the folder where it was started, or in one below it,
finds them there.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

DATA_DIR: Final = ".officeplane"
ADDRESSES: Final = "addresses.json"
ADMIN_KEY: Final = "admin.key"
"""The file in the data folder with the key by which its owner may do everything."""
_VARIABLE: Final = "OFFICEPLANE_DATA_DIR"


@dataclass(frozen=True, slots=True)
class LocalInstallation:
    """Where it is, and where its parts answer."""

    data_dir: Path
    url: str
    database_url: str = field(repr=False)
    owner_url: str = field(repr=False)
    redis_url: str = field(repr=False)

    def settings(self) -> dict[str, Any]:
        """Return what a process that works on it has to be told."""
        return {"database_url": self.database_url, "owner_url": self.owner_url, "redis_url": self.redis_url}

    @property
    def admin_key_path(self) -> Path:
        """Where the key is with which everything may be done there."""
        return self.data_dir / ADMIN_KEY

    def admin_key(self) -> str | None:
        """Return that key, if it can be read."""
        return read_key(self.admin_key_path)


def local_installation() -> LocalInstallation | None:
    """Return the installation of the folder named in the environment, else of this folder or the nearest above it."""
    named = os.environ.get(_VARIABLE)
    folders = [Path(named)] if named else [folder / DATA_DIR for folder in _from_here_up()]
    return next((found for folder in folders if (found := _installation_in(folder)) is not None), None)


def read_key(path: Path) -> str | None:
    """Return what a file of ours has as a key; None when there is no such file."""
    try:
        return path.read_text().strip() if path.stat().st_uid == os.geteuid() else None
    except (OSError, ValueError):
        return None


def _from_here_up() -> list[Path]:
    try:
        here = Path.cwd()
    except OSError:
        # Somebody has removed the folder that we are in.
        return []
    return [here, *here.parents]


def _installation_in(folder: Path) -> LocalInstallation | None:
    path = folder / ADDRESSES
    try:
        # What somebody else has put in our way leads to his servers.
        if path.stat().st_uid != os.geteuid():
            return None
        facts = json.loads(path.read_text())
        return LocalInstallation(
            data_dir=folder.resolve(),
            url=str(facts["url"]),
            database_url=str(facts["databaseUrl"]),
            owner_url=str(facts["ownerUrl"]),
            redis_url=str(facts["redisUrl"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
