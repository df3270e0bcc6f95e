"""What may go wrong with locks; the ledger makes all of it harmless, so only the locks themselves show it."""

import hashlib

from officeplane.dispatch import connection, locks, scripts
from officeplane.dispatch.locks import Hold
from officeplane.dispatch.scripts import Script
from tests.chaos.mutants.texts import monkey_patch


def lock_without_nonce() -> None:
    """A lock says who holds it, and not for which stay: an old hold's release frees a new one's lock."""

    def value(hold: Hold) -> str:
        return hold.worker_id

    monkey_patch(Hold, "value", property(value))


def lock_not_taken() -> None:
    """The script says that the lock is held, and holds nothing."""
    text = "return 1"
    script = Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())
    monkey_patch(locks, "ACQUIRE_LOCK", script)
    rest = [one.load() for one in scripts.ALL if one is not scripts.ACQUIRE_LOCK]
    monkey_patch(connection, "_LOAD_SCRIPTS", (script.load(), *rest))
