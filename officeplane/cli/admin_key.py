"""The key of an installation's owner: a file that only he can read, and whose key works whenever he starts it."""

from pathlib import Path

from officeplane.cli.keys.keeping import me
from officeplane.domain.api_key import ADMIN_NAME, is_key_text
from officeplane.domain.principal import Scope
from officeplane.embedded.private_file import write_private
from officeplane.local import read_key
from officeplane.services.access.api_keys import ApiKeys, new_key_text
from officeplane.store.connection import open_ledger


async def keep_admin_key(database_url: str, path: Path, given: str = "") -> None:
    """Have a key work that may do everything, and be in this file: the given one, that of the file, or a new one."""
    async with open_ledger(database_url, connections=1) as ledger:
        keys = ApiKeys(ledger)
        for text in (given, read_key(path), new_key_text()):
            if text and is_key_text(text) and await keys.admit(me(), ADMIN_NAME, {Scope.ADMIN}, text):
                break
    write_private(path, f"{text}\n")
