"""The Lua scripts: found, hashed, and called by hash.

The server forgets scripts when it restarts, fails over or is told to. A call it
does not know is refused before anything happened, so `Connection` loads all of
them and repeats just the calls that were refused.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from officeplane.dispatch.commands import packed

_PACKAGE: Final = Path(__file__).resolve().parents[1]
# The wheel carries the scripts inside the package; a checkout has them beside it.
FOLDERS: Final = (_PACKAGE / "lua", _PACKAGE.parent / "lua")


@dataclass(frozen=True, slots=True)
class Script:
    """One script of `lua/`; its header says what the keys and arguments are."""

    text: str
    digest: str

    def call(self, *keys: str, arguments: tuple[str, ...]) -> bytes:
        """Return the command that runs it."""
        return packed("EVALSHA", self.digest, str(len(keys)), *keys, *arguments)

    def load(self) -> bytes:
        """Return the command that teaches it to a server."""
        return packed("SCRIPT", "LOAD", self.text)


def read_script(name: str) -> Script:
    """Return the script of that name, from the wheel or the checkout."""
    for folder in FOLDERS:
        path = folder / f"{name}.lua"
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())
    message = f"the Lua script {name!r} is in none of {', '.join(map(str, FOLDERS))}"
    raise FileNotFoundError(message)


ACQUIRE_LOCK: Final = read_script("acquire_lock")
RENEW_LOCK: Final = read_script("renew_lock")
RELEASE_LOCK: Final = read_script("release_lock")
RING_SPACE: Final = read_script("ring_space")
TAKE_HINTS: Final = read_script("take_hints")
TAKE_TURNS: Final = read_script("take_turns")
ALL: Final = (ACQUIRE_LOCK, RENEW_LOCK, RELEASE_LOCK, RING_SPACE, TAKE_HINTS, TAKE_TURNS)
